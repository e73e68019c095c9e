import { deflateSync, inflateSync } from 'node:zlib';
import {
  decodePDFRawStream,
  type PDFDocument,
  type PDFObject,
  PDFRawStream,
  PDFStream,
} from '@cantoo/pdf-lib';
import { dictAt, KEYS, name } from '../objects.ts';

/** Bytes of a content stream that is read: fifty pages of text have 4 MB, and a page of 100,000 elements 10 MB. */
const MAX_BYTES = 64 * 1024 ** 2;
const FLATE = name('FlateDecode');

/**
 * The text of a stream, with one character for each byte.
 *
 * @throws RangeError for one that is larger than 64 MiB.
 */
export function readStream(stream: PDFStream): string {
  if (!(stream instanceof PDFRawStream)) return Buffer.from(stream.getContents()).toString('latin1');
  const filter = stream.dict.get(name('Filter'));
  // pdf-lib's own decoder takes three times as long for the one filter that Chromium uses.
  const bytes =
    filter === FLATE && !stream.dict.has(name('DecodeParms'))
      ? inflateSync(stream.contents, { maxOutputLength: MAX_BYTES })
      : filter === undefined
        ? stream.contents
        : decodePDFRawStream(stream).decode();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** A stream with the same dictionary and another text. */
export function withText(document: PDFDocument, stream: PDFStream, text: string): PDFRawStream {
  const dict = stream.dict.clone(document.context);
  dict.delete(name('DecodeParms'));
  dict.set(name('Filter'), FLATE);
  return PDFRawStream.of(dict, deflateSync(Buffer.from(text, 'latin1')));
}

/** The form that `called` stands for in some resources; undefined for a picture, and for nothing. */
export function formNamed(
  { context }: PDFDocument,
  resources: PDFObject | undefined,
  called: string,
): { readonly ref: PDFObject; readonly stream: PDFStream } | undefined {
  const ref = dictAt(context.lookup(resources), KEYS.XObject)?.get(name(called));
  const stream = context.lookup(ref);
  if (ref === undefined || !(stream instanceof PDFStream)) return undefined;
  return stream.dict.get(KEYS.Subtype) === KEYS.Form ? { ref, stream } : undefined;
}
