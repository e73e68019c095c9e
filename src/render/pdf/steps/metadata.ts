import { type PDFDocument, PDFHexString } from '@cantoo/pdf-lib';
import { informationDict, informationOf, setPacket } from '../information.ts';
import { name } from '../objects.ts';
import { informationPart, type PdfMetadata, xmpPacket } from '../xmp.ts';

const INFO_KEYS = {
  title: 'Title',
  author: 'Author',
  subject: 'Subject',
  creator: 'Creator',
  producer: 'Producer',
} as const satisfies Partial<Record<keyof PdfMetadata, string>>;

/**
 * Writes the given fields into the information dictionary, keeps its other fields, and adds an XMP packet with all of
 * them (ISO 32000-1, 14.3). Keywords are separated by commas.
 */
export default function writeMetadata(document: PDFDocument, metadata: PdfMetadata): void {
  const info = informationDict(document);
  const set = (key: string, text: string): void => info.set(name(key), PDFHexString.fromText(text));
  for (const [field, key] of Object.entries(INFO_KEYS)) {
    const text = metadata[field as keyof typeof INFO_KEYS];
    if (text) set(key, text);
  }
  const { keywords = [] } = metadata;
  if (keywords.length > 0) set('Keywords', keywords.join(', '));
  setPacket(document, xmpPacket([informationPart({ ...informationOf(document), keywords })]));
}
