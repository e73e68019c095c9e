import { ParseSpeeds, PDFCatalog, PDFDict, PDFDocument, PDFInvalidObject, PDFRef } from '@cantoo/pdf-lib';
import { KEYS, name } from '../objects.ts';
import { walkPages } from './page-tree.ts';
import { dropUnreachable } from './reachable.ts';
import { RefusedPdf } from './refusal.ts';

/** Bytes at the beginning and at the end of a file in which readers look for its marks (ISO 32000-1, annex H). */
const MARGIN_BYTES = 1024;

/**
 * Opens a PDF that somebody has sent, which may be broken or hostile: what is not reached from its catalog is left out, and
 * its page tree is a tree.
 *
 * @param takesSigned for a PDF that is only read.
 * @throws RefusedPdf for a PDF that is none, is cut off, is encrypted or signed, or has more pages than are converted; any
 * other error for one that is broken.
 */
export async function openSent(pdf: Uint8Array, { takesSigned = false } = {}): Promise<PDFDocument> {
  requireWhole(Buffer.from(pdf.buffer, pdf.byteOffset, pdf.byteLength));
  const document = await PDFDocument.load(pdf, {
    updateMetadata: false,
    parseSpeed: ParseSpeeds.Fastest,
    ignoreEncryption: true,
  });
  if (document.context.trailerInfo.Encrypt !== undefined)
    throw new RefusedPdf('PDF_ENCRYPTED', 'The PDF is encrypted: send it as it is without its encryption.');
  if (!(document.catalog instanceof PDFCatalog))
    throw new RefusedPdf('PDF_INVALID', 'The PDF cannot be read: it has no catalog.');
  // Also one that nothing leads to: it may have been a stream of others, which are missing without it.
  for (const [{ objectNumber }, object] of document.context.enumerateIndirectObjects())
    if (object instanceof PDFInvalidObject)
      throw new RefusedPdf('PDF_INVALID', `The PDF cannot be read: its object ${objectNumber} is broken.`);
  dropUnreachable(document);
  for (const [, object] of document.context.enumerateIndirectObjects())
    if (!takesSigned && object instanceof PDFDict && isSignature(object))
      throw new RefusedPdf('PDF_SIGNED', 'The PDF is signed: any change would make its signature invalid.');
  walkPages(document);
  return document;
}

/** @throws RefusedPdf for a file without the marks of a PDF. */
function requireWhole(file: Buffer): void {
  if (file.subarray(0, MARGIN_BYTES).indexOf('%PDF-') < 0)
    throw new RefusedPdf('PDF_INVALID', 'The file is no PDF: it does not begin with %PDF-.');
  const tail = file.subarray(Math.max(0, file.length - 2 * MARGIN_BYTES));
  const end = tail.lastIndexOf('%%EOF');
  if (end < 0 || tail.lastIndexOf('startxref', end) < 0)
    throw new RefusedPdf('PDF_INVALID', 'The PDF is cut off: it does not end with startxref and %%EOF.');
}

/** The value of a signature, or a field that has one (ISO 32000-1, 12.8.1). */
function isSignature(dict: PDFDict): boolean {
  if (dict.has(name('ByteRange')) && dict.has(KEYS.Contents)) return true;
  if (dict.get(name('FT')) !== name('Sig')) return false;
  const value = dict.get(name('V'));
  return value instanceof PDFRef || value instanceof PDFDict;
}
