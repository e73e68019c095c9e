import { profileOf } from '../einvoice/profiles.ts';
import { withImplied } from '../options/all/implied-options.ts';
import { optionsSchema, type RenderOptions } from '../options/all/render-options.ts';
import { finishSteps } from '../options/all/stages.ts';
import type { Conformance } from '../options/conformance.ts';
import { OPTIONS } from '../options/generated/options.ts';
import { ARCHIVE_LEVELS, type ArchiveLevel } from '../pdf/conformance/target.ts';
import { type FinishStep, inOrder } from '../pdf/finish-step.ts';
import type { ConformanceArgument } from '../pdf/steps/conformance.ts';
import { TEST_SHEET } from './test-sheet.ts';

const { attachments, conformance, einvoice, fill, metadata, protection, report, seal, timeoutMs } = OPTIONS;

/** The options of a conversion: those that are about a PDF, however it was made. */
export const conversionOptionsSchema = optionsSchema({
  attachments,
  conformance,
  einvoice,
  fill,
  metadata,
  protection,
  report,
  seal,
  timeoutMs,
})
  .refine(({ conformance: wanted }) => !wanted || (levelOf(wanted) !== undefined && !wanted.pdfua), {
    path: ['conformance'],
    error:
      'must be {"pdfa": "2b"} or {"pdfa": "3b"}: what other levels and PDF/UA need of a document cannot be added to its PDF',
  })
  .refine(({ conformance: wanted }) => wanted?.onFault !== 'report', {
    path: ['conformance', 'onFault'],
    error: 'must not be report: a PDF with faults would say of itself that it has none',
  })
  .refine(({ seal: given }) => given?.visible === undefined, {
    path: ['seal', 'visible'],
    error: 'must be left out: a browser draws it, and none is used for a PDF that exists already',
  })
  .meta({ id: 'ConversionOptions' });

/** The level that a conversion can reach; undefined for any other one. */
function levelOf({ pdfa }: Conformance): ArchiveLevel | undefined {
  return ARCHIVE_LEVELS.find((level) => level === pdfa);
}

/** What the finisher does for a conversion. */
interface Conversion {
  readonly steps: readonly FinishStep[];
  /** What the PDF is to conform to. */
  readonly pdfa: ArchiveLevel | undefined;
}

/** @param asked with the watermark of a test key, and no other one. */
export async function conversionOf(asked: RenderOptions): Promise<Conversion> {
  const { watermark, conformance: wanted, ...options } = withImplied(asked);
  // Other options ask what the PDF is to conform to.
  const steps = await finishSteps({ ...options, conformance: wanted }, { printSheet: noPrint });
  const pdfa = wanted && levelOf(wanted);
  const profile = options.einvoice?.profile;
  const argument: ConformanceArgument = { pdfa, isSent: true, invoice: profile && profileOf(profile) };
  return {
    pdfa,
    steps: inOrder([
      ...steps,
      ...(watermark === undefined ? [] : [TEST_SHEET]),
      ...(pdfa === undefined ? [] : [{ step: 'conformance', argument } as const]),
    ]),
  };
}

function noPrint(): never {
  throw new Error('A conversion prints nothing.');
}
