/** A conformance that can be asked for (ISO 19005-2, -3 and -4): the part, and its level. */
export const PDFA_LEVELS = ['2b', '2u', '2a', '3b', '3u', '3a', '4'] as const;
export type PdfaLevel = (typeof PDFA_LEVELS)[number];

/** The levels that a PDF of others can be made to conform to: what the others need cannot be added to it. */
export const ARCHIVE_LEVELS = ['2b', '3b'] as const;
export type ArchiveLevel = (typeof ARCHIVE_LEVELS)[number];

/** What a document is to conform to: at least one of them. */
export interface ConformanceTarget {
  readonly pdfa?: PdfaLevel | undefined;
  /** PDF/UA-1 (ISO 14289-1). */
  readonly pdfua?: boolean | undefined;
}

/** Whether the document must be tagged: for PDF/UA, and for level A of PDF/A. */
export function needsTags({ pdfa, pdfua }: ConformanceTarget): boolean {
  return pdfua === true || pdfa?.endsWith('a') === true;
}

/** As it is called, such as "PDF/A-2a and PDF/UA-1". */
export function nameOfTarget({ pdfa, pdfua }: ConformanceTarget): string {
  return [pdfa && `PDF/A-${pdfa}`, pdfua && 'PDF/UA-1'].filter(Boolean).join(' and ');
}
