import { deflateSync, inflateSync } from 'node:zlib';
import {
  decodePDFRawStream,
  PDFArray,
  PDFDict,
  type PDFDocument,
  PDFName,
  type PDFObject,
  PDFRawStream,
  PDFStream,
} from '@cantoo/pdf-lib';

/** Bytes of a content stream that is changed: a page of 100,000 elements has 10 MB. */
const MAX_BYTES = 64 * 1024 ** 2;
const FLATE = PDFName.of('FlateDecode');

/**
 * The text of a stream, with one character for each byte.
 *
 * @throws RangeError for one that is larger than 64 MiB.
 */
export function readStream(stream: PDFStream): string {
  if (!(stream instanceof PDFRawStream)) return Buffer.from(stream.getContents()).toString('latin1');
  const filter = stream.dict.get(PDFName.of('Filter'));
  // pdf-lib's own decoder takes three times as long for the one filter that Chromium uses.
  const bytes =
    filter === FLATE && !stream.dict.has(PDFName.of('DecodeParms'))
      ? inflateSync(stream.contents, { maxOutputLength: MAX_BYTES })
      : filter === undefined
        ? stream.contents
        : decodePDFRawStream(stream).decode();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** A stream with the same dictionary and another text. */
export function withText(document: PDFDocument, stream: PDFStream, text: string): PDFRawStream {
  const dict = stream.dict.clone(document.context);
  dict.delete(PDFName.of('DecodeParms'));
  dict.set(PDFName.of('Filter'), FLATE);
  return PDFRawStream.of(dict, deflateSync(Buffer.from(text, 'latin1')));
}

/** The references and streams of the contents of a page. */
export function contentsOf(document: PDFDocument, contents: PDFObject | undefined): PDFObject[] {
  const found = document.context.lookup(contents);
  if (found instanceof PDFArray) return found.asArray();
  return contents === undefined ? [] : [contents];
}

/** The form that `name` stands for in some resources; undefined for a picture, and for nothing. */
export function formNamed(
  { context }: PDFDocument,
  resources: PDFObject | undefined,
  name: string,
): { readonly ref: PDFObject; readonly stream: PDFStream } | undefined {
  const dict = context.lookup(resources);
  const objects = dict instanceof PDFDict ? dict.lookup(PDFName.of('XObject')) : undefined;
  const ref = objects instanceof PDFDict ? objects.get(PDFName.of(name)) : undefined;
  const stream = context.lookup(ref);
  if (ref === undefined || !(stream instanceof PDFStream)) return undefined;
  return stream.dict.get(PDFName.of('Subtype')) === PDFName.of('Form') ? { ref, stream } : undefined;
}
