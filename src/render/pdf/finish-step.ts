import type { AccessibilityFault } from '../report/accessibility.ts';

/**
 * What the finisher can do to a printed document, in the order in which it is done: the names of the modules in the
 * folder `steps`.
 */
export const STEP_ORDER = [
  /** Makes fields of the controls of the document. */
  'forms',
  /** Fills them in, and flattens them. */
  'fill',
  /** Draws headers and footers that were printed by themselves. */
  'margins',
  /** Writes the document information, and an XMP packet with it. */
  'metadata',
  /** Draws a text over every page. */
  'watermark',
  /** Embeds files. */
  'attachments',
  /** Repairs what keeps the document from its conformance, and declares it. Sees all that is in the document. */
  'conformance',
  /** Makes the place of a signature, which is the last of the document. */
  'seal',
  /** Encrypts the file. */
  'protection',
  /** Appends to a file that has been sealed since what its seal can be checked with later. */
  'validation',
] as const;

/** A step of the finisher, and its argument. */
export interface FinishStep {
  readonly step: (typeof STEP_ORDER)[number];
  readonly argument: unknown;
}

/** A PDF after its steps. */
export interface FinishedPdf {
  readonly pdf: Uint8Array;
  /** What the steps have found that only the author of the document can mend. */
  readonly faults: readonly AccessibilityFault[];
}

/** The steps as they are done. */
export function inOrder(steps: readonly FinishStep[]): FinishStep[] {
  return steps.toSorted((one, other) => STEP_ORDER.indexOf(one.step) - STEP_ORDER.indexOf(other.step));
}
