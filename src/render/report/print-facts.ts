import type { PrintedText } from './missing-glyphs.ts';

/** How Chromium has laid a document out on its paper. */
export interface PrintedLayout {
  /** Size of a CSS pixel on paper, where 1 is one 96th of an inch. */
  readonly scale: number;
  /** Width of the printable area in CSS pixels, as they were printed. */
  readonly width: number;
}

/** What is read from a printed document for its report. */
export interface PrintedPages extends PrintedText {
  readonly pages: number;
  /** Of the first page on which it can be read. */
  readonly layout: PrintedLayout | undefined;
  /** The first pages without anything on them, from 1 on, and how many there are. */
  readonly blank: readonly number[];
  readonly blankPages: number;
}

/** Blank pages that are named. */
export const MAX_BLANK = 10;

/** Chromium shrinks a document to two thirds at most; what is still wider is cut off. */
const MOST_SHRUNK = 2 / 3;
/** The precision with which a scale is read from a PDF. */
const PRECISION = 0.002;

/**
 * The part of its size at which the browser has printed a document: 1, or less for one that is wider than the paper.
 *
 * @param scale the one that it was to be printed with.
 * @returns undefined when it is not known: pages may begin with something that has a scale of its own.
 */
export function shrinkage({ layout }: Pick<PrintedPages, 'layout'>, scale = 1): number | undefined {
  const factor = layout && layout.scale / scale;
  return factor === undefined || factor < MOST_SHRUNK - PRECISION ? undefined : factor;
}

/** Whether a document may be cut off at the edge of the paper, because it was shrunk as far as the browser does that. */
export function mayBeCut(factor: number | undefined): boolean {
  return factor !== undefined && factor <= MOST_SHRUNK + PRECISION;
}
