/** The media types of a render's output, with the file extension of each. */
const EXTENSIONS = { 'application/pdf': '.pdf' } as const;

export type MediaType = keyof typeof EXTENSIONS;

/** The media type of every render's output. */
export const PDF: MediaType = 'application/pdf';

/** The media type of an e-invoice by itself. */
export const XML = 'application/xml';

/** The file extension of every render's output. */
export const PDF_EXTENSION = EXTENSIONS[PDF];
