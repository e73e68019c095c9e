import { z } from 'zod';
import { FOUND_BY_RULE, OBSERVATION_RULES, perRule } from '../report/observation-rules.ts';
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
      pageStatus: statuses.describe('Statuses of the source URL. An empty list prints error pages, too.'),
      assetStatus: statuses.describe('Statuses of anything that the document requests.'),
      assetUnreachable: z
        .boolean()
        .describe('Anything that the document requests and that cannot be loaded at all, or not be shown.'),
      exception: z.boolean().describe('A script of the document that throws.'),
      missingGlyph: z.boolean().describe('A character that no font has.'),
      ignoreHosts: shortList(lineSchema({ min: 1, max: 255 }), 50).describe(
        'Hosts whose requests fail no render.',
      ),
      ...perRule((rule) => z.boolean().describe(FOUND_BY_RULE[rule])),
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
