import type { PDFDict, PDFDocument } from '@cantoo/pdf-lib';
import { dictAt, name } from './objects.ts';
import type { PdfMetadata } from './xmp.ts';

/** The document information as the document has it. */
export function informationOf(document: PDFDocument): PdfMetadata {
  return {
    title: document.getTitle(),
    author: document.getAuthor(),
    subject: document.getSubject(),
    creator: document.getCreator(),
    producer: document.getProducer(),
    keywords: document.getKeywords()?.split(', ') ?? [],
  };
}

/** The information dictionary (ISO 32000-1, 14.3.3), which is made if there is none. */
export function informationDict(document: PDFDocument): PDFDict {
  const { context } = document;
  const known = dictAt(context.lookup(context.trailerInfo.Info));
  if (known !== undefined) return known;
  const info = context.obj({});
  context.trailerInfo.Info = context.register(info);
  return info;
}

/** Puts an XMP packet into the catalog, in place of one that is there. @param packet bytes, or a text in ASCII. */
export function setPacket(document: PDFDocument, packet: string | Uint8Array): void {
  const stream = document.context.stream(packet, { Type: 'Metadata', Subtype: 'XML' });
  document.catalog.set(name('Metadata'), document.context.register(stream));
}
