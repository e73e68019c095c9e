import { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import { profileOf } from '../einvoice/profiles.ts';
import { needsTags, PDFA_LEVELS } from '../pdf/conformance/target.ts';
import type { ConformanceArgument } from '../pdf/steps/conformance.ts';
import {
  COUNT_ELEMENTS,
  DOCUMENT_TEXTS,
  type DocumentTexts,
  type ElementCounts,
} from './core/conformance-scripts.ts';
import { defineOption, type PrintStage } from './core/option.ts';
import { einvoice } from './einvoice.ts';

/** Printing with tags takes time in the square of what is tagged. Elements, and rows of tables among them. */
export const MAX_TAGGED_ELEMENTS = 60_000;
export const MAX_TAGGED_ROWS = 10_000;
/** Links whose text is used. */
const MAX_LINKS = 5000;

const schema = z.strictObject({
  pdfa: z.enum(PDFA_LEVELS).optional().describe('The part and level of PDF/A, for archives.'),
  pdfua: z.boolean().optional().describe('PDF/UA-1, for everyone. Default false.'),
  onFault: z
    .enum(['fail', 'report'])
    .optional()
    .describe(
      'Whether faults of the document fail the render, or are reported beside the PDF. Default fail.',
    ),
});

/** A given value, which may be of any kind. */
const fields = (options: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object(options.conformance);
const tags = (options: Readonly<Record<string, unknown>>): boolean => {
  const { pdfa, pdfua } = fields(options);
  return needsTags({ pdfa: PDFA_LEVELS.find((level) => level === pdfa), pdfua: pdfua === true });
};

export const conformance = defineOption('conformance', schema, {
  stage: 'print',
  documentation:
    'Write a PDF that conforms to PDF/A, PDF/UA-1 or both. PDF/UA and the levels ending in a imply `tagged` and `outline`. What ' +
    'only the author of the document can mend is listed in `accessibility` of the report; it fails the render with ' +
    'CONFORMANCE_FAILED, unless onFault is report, which implies `report`.',
  // Before options that change the document for their prints.
  order: -1,
  rules: [
    {
      error: 'must have pdfa, pdfua or both, such as {"conformance": {"pdfa": "2a", "pdfua": true}}',
      holds: (options) =>
        options.conformance === undefined ||
        fields(options).pdfa !== undefined ||
        fields(options).pdfua === true,
    },
    {
      error:
        'must not have pdfua with PDF/A-4: that is PDF/UA-2, whose structure types and namespaces Chromium does not write; give ' +
        '{"conformance": {"pdfa": "3a", "pdfua": true}}, or {"conformance": {"pdfa": "4"}}',
      holds: (options) => !(fields(options).pdfa === '4' && fields(options).pdfua === true),
    },
    {
      error: 'needs tags: leave tagged out, or give {"conformance": {"pdfua": true}, "tagged": true}',
      holds: (options) => !tags(options) || options.tagged !== false,
    },
  ],
  // The window in which its accessibility is looked at stays with the document.
  needs: (value) => ({ navigation: needsTags(value) }),
  async beforePrint(value, stage) {
    if (needsTags(value)) await requireFew(stage);
  },
  async afterPrint(value, stage) {
    const { pdfa, pdfua } = value;
    const texts = needsTags(value)
      ? await stage.page.runIsolated<DocumentTexts>(DOCUMENT_TEXTS, MAX_LINKS, MAX_TAGGED_ELEMENTS)
      : undefined;
    const profile = stage.given(einvoice)?.profile;
    const invoice = profile && profileOf(profile);
    stage.finishBy({
      step: 'conformance',
      argument: { pdfa, pdfua, ...texts, invoice } satisfies ConformanceArgument,
    });
  },
});

export type Conformance = z.output<typeof schema>;

/** @throws PlatenError DOCUMENT_LIMIT for a document that is too large to be printed with tags. */
async function requireFew({ page }: PrintStage): Promise<void> {
  const { elements, rows } = await page.runIsolated<ElementCounts>(COUNT_ELEMENTS, MAX_TAGGED_ELEMENTS);
  const [count, most, what] =
    rows > MAX_TAGGED_ROWS
      ? [rows, MAX_TAGGED_ROWS, 'rows of tables']
      : [elements, MAX_TAGGED_ELEMENTS, 'elements'];
  if (count <= most) return;
  throw new PlatenError(
    'DOCUMENT_LIMIT',
    `With tags, which conformance needs, a document may have ${most} ${what}, and this one has ${count > most && what === 'elements' ? 'more' : count}: ` +
      'split it and merge the PDFs of a batch, or ask for {"pdfa": "2b"}, which needs no tags.',
  );
}
