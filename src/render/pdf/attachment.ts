/** What an associated file is to its document (ISO 32000-2, 7.11.3). */
export const RELATIONSHIPS = ['Source', 'Data', 'Alternative', 'Supplement', 'Unspecified'] as const;

/** A file in a PDF. */
export interface Attachment {
  /** Of all files in the PDF, only one has it. */
  readonly name: string;
  readonly type: string;
  /** In base64. */
  readonly content: string;
  readonly relationship: (typeof RELATIONSHIPS)[number];
  readonly description?: string | undefined;
}
