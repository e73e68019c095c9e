import { type PDFDict, type PDFDocument, PDFHexString, PDFName } from '@cantoo/pdf-lib';
import { type PdfMetadata, xmpPacket } from '../xmp.ts';

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
  const info = infoOf(document);
  const set = (key: string, text: string): void => info.set(PDFName.of(key), PDFHexString.fromText(text));
  for (const [field, key] of Object.entries(INFO_KEYS)) {
    const text = metadata[field as keyof typeof INFO_KEYS];
    if (text) set(key, text);
  }
  if (metadata.keywords?.length) set('Keywords', metadata.keywords.join(', '));
  const packet = document.context.stream(xmpPacket(completed(document, metadata)), {
    Type: 'Metadata',
    Subtype: 'XML',
  });
  document.catalog.set(PDFName.of('Metadata'), document.context.register(packet));
}

/** The given fields; missing ones are taken from the document. */
function completed(document: PDFDocument, metadata: PdfMetadata): PdfMetadata {
  return {
    title: metadata.title || document.getTitle(),
    author: metadata.author || document.getAuthor(),
    subject: metadata.subject || document.getSubject(),
    creator: metadata.creator || document.getCreator(),
    producer: metadata.producer || document.getProducer(),
    keywords: metadata.keywords ?? [],
  };
}

function infoOf(document: PDFDocument): PDFDict {
  const { context } = document;
  const known = context.lookup(context.trailerInfo.Info);
  if (known !== undefined) return known as PDFDict;
  const info = context.obj({});
  context.trailerInfo.Info = context.register(info);
  return info;
}
