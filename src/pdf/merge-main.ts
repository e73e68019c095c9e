/** The program of a merger's process: renumbers the objects of one document for their use in a larger one. */
import {
  ParseSpeeds,
  PDFArray,
  PDFContext,
  PDFDict,
  PDFDocument,
  PDFName,
  PDFNull,
  PDFObjectCopier,
  PDFRef,
  PDFStream,
} from '@cantoo/pdf-lib';
import { serve } from '../sandbox/serve.ts';

export interface PartCall {
  readonly pdf: Uint8Array;
  /** The number of its first object. */
  readonly firstObject: number;
  /** The object number of the node of the page tree that becomes the parent of its pages. */
  readonly parent: number;
}

/** The pages of a document and the objects that they need, with their numbers in the larger document. */
export interface Part {
  readonly bytes: Uint8Array;
  /** The offset of each object in the bytes, from the first number on without a gap. */
  readonly offsets: number[];
  /** The numbers of the pages in their order. */
  readonly pages: number[];
}

const name = (text: string) => PDFName.of(text);

serve<PartCall>(async ({ pdf, firstObject, parent }): Promise<Part> => {
  const source = await PDFDocument.load(pdf, { updateMetadata: false, parseSpeed: ParseSpeeds.Fastest });
  const sourcePages = source.getPages();
  for (const page of sourcePages) detach(page.node, source);
  const context = PDFContext.create();
  context.largestObjectNumber = firstObject - 1;
  const copier = PDFObjectCopier.for(source.context, context);
  // Copied by reference, so that links within the document lead to the copies.
  const pages = sourcePages.map(({ ref }) => copier.copy(ref));
  for (const page of pages) context.lookup(page, PDFDict).set(name('Parent'), PDFRef.of(parent));
  return { ...write(context, firstObject), pages: pages.map(({ objectNumber }) => objectNumber) };
});

/** Removes references to structure that is not copied, and replaces names of destinations by the destinations. */
function detach(page: PDFDict, source: PDFDocument): void {
  page.delete(name('StructParents'));
  const destinations = source.catalog.lookupMaybe(name('Dests'), PDFDict);
  const annotations = page.lookupMaybe(name('Annots'), PDFArray);
  for (let i = 0; i < (annotations?.size() ?? 0); i += 1) {
    const annotation = annotations!.lookup(i);
    if (!(annotation instanceof PDFDict)) continue;
    annotation.delete(name('StructParent'));
    const destination = annotation.lookup(name('Dest'));
    if (!(destination instanceof PDFName)) continue;
    const found = destinations?.get(destination);
    if (found === undefined) annotation.delete(name('Dest'));
    else annotation.set(name('Dest'), found);
  }
}

function write(context: PDFContext, firstObject: number): Pick<Part, 'bytes' | 'offsets'> {
  const numbers = Array.from(
    { length: context.largestObjectNumber - firstObject + 1 },
    (_, i) => firstObject + i,
  );
  const pieces: Uint8Array[] = [];
  const offsets: number[] = [];
  let at = 0;
  for (const number of numbers) {
    // A reference to no object stands for null (ISO 32000-1, 7.3.10).
    const object = context.lookup(PDFRef.of(number)) ?? PDFNull;
    if (object instanceof PDFStream) object.updateDict();
    const body = new Uint8Array(object.sizeInBytes());
    object.copyBytesInto(body, 0);
    offsets.push(at);
    for (const piece of [Buffer.from(`${number} 0 obj\n`), body, Buffer.from('\nendobj\n')]) {
      pieces.push(piece);
      at += piece.length;
    }
  }
  return { bytes: Buffer.concat(pieces, at), offsets };
}
