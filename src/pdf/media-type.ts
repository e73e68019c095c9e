/** The kinds of file that a render may result in, with the extension that such a file has. */
export const EXTENSIONS = { 'application/pdf': '.pdf' } as const;

export type MediaType = keyof typeof EXTENSIONS;

/** What every render results in. */
export const PDF: MediaType = 'application/pdf';
