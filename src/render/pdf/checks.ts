/** What is looked at when a PDF is validated, in this order. */
export const CHECKS = ['file', 'encryption', 'metadata', 'pdfa', 'pdfua', 'einvoice', 'signatures'] as const;
