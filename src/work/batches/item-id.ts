import { holds } from '../../render/options/core/text-checks.ts';
import { lineSchema } from '../../render/options/core/text-schemas.ts';

const MAX_ITEM_ID = 255;

/** The id of an item. It is part of paths, in which `.` and `..` have another meaning. */
export const itemIdSchema = lineSchema({ min: 1, max: MAX_ITEM_ID }).check(
  holds((id) => id !== '.' && id !== '..', 'must not be "." or ".."'),
);
