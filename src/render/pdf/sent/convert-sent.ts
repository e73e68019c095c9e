import type { PDFDocument } from '@cantoo/pdf-lib';
import type { ArchiveLevel } from '../conformance/target.ts';
import type { FinishedPdf, FinishStep } from '../finish-step.ts';
import { archive } from './archive.ts';
import { withdrawClaims } from './claims.ts';
import { openSent } from './open-sent.ts';
import { type Refusal, RefusedPdf, refusalOf } from './refusal.ts';

/** What a PDF that somebody has sent may become. */
export interface SentTerms {
  /** Bytes that the PDF may have after its steps. */
  readonly maxBytes: number;
  /** What it is to conform to; the step `conformance` has to follow then. */
  readonly pdfa?: ArchiveLevel | undefined;
}

/** A PDF that was sent, after its steps. */
export interface ConvertedPdf extends FinishedPdf {
  readonly pages: number;
  /** What was mended for its conformance: each a sentence without its end. */
  readonly repairs: readonly string[];
}

/**
 * Converts a PDF that may be broken or hostile. Whatever goes wrong with it is its own fault, and comes back as a refusal.
 *
 * @param steps what was asked for. @param apply does it.
 */
export async function convertSent(
  pdf: Uint8Array,
  { maxBytes, pdfa }: SentTerms,
  steps: readonly FinishStep[],
  apply: (document: PDFDocument) => Promise<FinishedPdf>,
): Promise<ConvertedPdf | { readonly refusal: Refusal }> {
  try {
    const document = await openSent(pdf);
    const pages = document.getPageCount();
    const repairs = pdfa === undefined ? [] : mended(document, pdfa);
    if (pdfa === undefined) withdrawClaims(document, steps);
    const finished = await apply(document);
    const { byteLength } = finished.pdf;
    if (byteLength > maxBytes)
      throw new RefusedPdf(
        'OUTPUT_TOO_LARGE',
        `The converted PDF has ${byteLength} bytes, and the plan allows ${maxBytes}.`,
      );
    return { ...finished, pages, repairs };
  } catch (thrown) {
    return { refusal: refusalOf(thrown) };
  }
}

/** @throws RefusedPdf for a PDF that cannot conform. */
function mended(document: PDFDocument, pdfa: ArchiveLevel): readonly string[] {
  const { faults, repairs } = archive(document, pdfa);
  if (faults.length > 0)
    throw new RefusedPdf('CONFORMANCE_FAILED', `The PDF cannot be PDF/A-${pdfa}: ${faults.join('; ')}.`);
  return repairs;
}
