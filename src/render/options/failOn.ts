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
      'Fail the render if the source URL (pageStatus) or any other request (assetStatus) returned one of these statuses, ' +
      'such as ["400-599"]; if an asset could not be loaded or shown (assetUnreachable); if a script threw (exception); if a ' +
      'character has no font (missingGlyph); or if an inspection of the printed document found a fault: ' +
      `${OBSERVATION_RULES.join(', ')}. Requests to ignoreHosts never fail a render. With an empty pageStatus, error pages ` +
      'are printed as well. The codes are URL_UNREACHABLE, ASSET_FAILED, EXCEPTION_THROWN, GLYPH_MISSING and DOCUMENT_FAULT.',
    needs: () => ({ network: true }),
    load: ({ pageStatus }) => ({ errorPages: pageStatus?.length === 0 }),
  },
);

export type FailOn = z.output<typeof failOn.schema>;
