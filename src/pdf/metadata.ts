import { type PDFDict, type PDFDocument, PDFHexString, PDFName } from '@cantoo/pdf-lib';
import type { MetadataOptions } from '../jobs/render-options.ts';
import { xmpPacket } from './xmp.ts';

const INFO_KEYS = {
  title: 'Title',
  author: 'Author',
  subject: 'Subject',
  creator: 'Creator',
  producer: 'Producer',
} as const satisfies Partial<Record<keyof MetadataOptions, string>>;

/**
 * Writes what is given into the information dictionary, keeps the rest of it, and lays an XMP packet that says the
 * same beside it (ISO 32000-1, 14.3). Keywords are parted by commas.
 */
export function writeMetadata(document: PDFDocument, metadata: MetadataOptions): void {
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

/** What was asked for, and what the document says of the rest. */
function completed(document: PDFDocument, metadata: MetadataOptions): MetadataOptions {
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
