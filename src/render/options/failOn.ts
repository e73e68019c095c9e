import { z } from 'zod';
import { OBSERVATION_RULES, perRule } from '../report/observation-rules.ts';
import { defineOption } from './core/option.ts';
import { shortList } from './core/short-list.ts';
import { matches } from './core/text-checks.ts';
import { lineSchema } from './core/text-schemas.ts';

const statuses = shortList(
  z
    .string()
    .max(7)
    .check(
      matches(/^[1-5]\d\d(-[1-5]\d\d)?$/, 'must be a status or a range of them, such as 404 or 400-599'),
    ),
  20,
);

export const failOn = defineOption(
  'failOn',
  z
    .strictObject({
      pageStatus: statuses,
      assetStatus: statuses,
      assetUnreachable: z.boolean(),
      exception: z.boolean(),
      missingGlyph: z.boolean(),
      ignoreHosts: shortList(lineSchema({ min: 1, max: 255 }), 50),
      ...perRule(z.boolean()),
    })
    .partial(),
  {
    stage: 'job',
    documentation:
      'What makes the render fail, by what its report says: a status of the source URL (pageStatus) or of anything that the ' +
      'document requests (assetStatus), such as ["400-599"], what cannot be loaded at all or not be shown ' +
      '(assetUnreachable), a script that throws (exception), a character that no font has (missingGlyph), or anything that an ' +
      'inspection of the printed document finds: ' +
      `${OBSERVATION_RULES.join(', ')}. An empty pageStatus prints error pages, too. Requests to ignoreHosts fail no render. ` +
      'The codes are URL_UNREACHABLE, ASSET_FAILED, EXCEPTION_THROWN, GLYPH_MISSING and DOCUMENT_FAULT.',
    needs: () => ({ network: true }),
    load: ({ pageStatus }) => ({ errorPages: pageStatus?.length === 0 }),
  },
);

export type FailOn = z.output<typeof failOn.schema>;
