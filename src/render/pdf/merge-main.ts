/** The program of a merger's process: renumbers the objects of one document for their use in a larger one. */
import {
  ParseSpeeds,
  PDFContext,
  PDFDict,
  PDFDocument,
  PDFNull,
  type PDFObject,
  PDFObjectCopier,
  PDFRef,
  PDFStream,
} from '@cantoo/pdf-lib';
import { serve } from '../../infra/sandbox/serve.ts';
import type { ConformanceTarget } from './conformance/target.ts';
import { declaredBy } from './merged-conformance.ts';
import { moveForm, type PartForm } from './merged-form.ts';
import { destinationFinder, resolveNames } from './merged-links.ts';
import { copyOutline, type PartOutline } from './merged-outline.ts';
import { type PartStructure, renumberKeys, Structure, type StructureTarget } from './merged-structure.ts';
import { isMarked, name, textOf } from './objects.ts';

export interface PartCall {
  readonly pdf: Uint8Array;
  /** The number of its first object. */
  readonly firstObject: number;
  /** The object number of the node of the page tree that becomes the parent of its pages. */
  readonly parent: number;
  /** The object number of the bookmark that its own bookmarks come below. */
  readonly bookmark: number;
  readonly structure: StructureTarget;
  /** Its number among the documents, from 1 on. */
  readonly document: number;
}

/** The pages of a document and the objects that they need, with their numbers in the larger document. */
export interface Part {
  readonly bytes: Uint8Array;
  /** The offset of each object in the bytes, from the first number on without a gap. */
  readonly offsets: number[];
  /** The numbers of the pages in their order. */
  readonly pages: number[];
  /** Absent without bookmarks. */
  readonly outline?: PartOutline;
  /** Absent without structure. */
  readonly structure?: PartStructure;
  /** Absent without fields to fill in. */
  readonly form?: PartForm;
  /** Whether the document says that it is tagged. */
  readonly marked: boolean;
  /** Its language; absent without one. */
  readonly lang?: string;
  /** What it declares to conform to; absent for nothing. */
  readonly conformance?: ConformanceTarget;
}

/** Characters of a language tag; a longer one is none. */
const MAX_LANG = 100;

serve<PartCall>(
  async ({ pdf, firstObject, parent, bookmark, structure: target, document }): Promise<Part> => {
    const source = await PDFDocument.load(pdf, { updateMetadata: false, parseSpeed: ParseSpeeds.Fastest });
    const sourcePages = source.getPages();
    const find = destinationFinder(source);
    for (const page of sourcePages) resolveNames(page.node, find);
    const structure = Structure.of(source, target);
    renumberKeys(source, structure?.keys ?? new Map());
    const context = PDFContext.create();
    context.largestObjectNumber = firstObject - 1;
    const copier = PDFObjectCopier.for(source.context, context);
    // Copied by reference, so that links within the document lead to the copies.
    const pages = sourcePages.map(({ ref }) => copier.copy(ref));
    for (const page of pages) context.lookup(page, PDFDict).set(name('Parent'), PDFRef.of(parent));
    const lang = langOf(source);
    const conformance = declaredBy(source);
    const moved = structure?.moveTo(context, copier, lang);
    const form = moveForm(source, { context, copier, document });
    const elementAt = (element: PDFObject | undefined) => structure?.movedTo(element);
    const outline = copyOutline(source, { context, copier, parent: bookmark, find, elementAt });
    return {
      ...write(context, firstObject),
      pages: pages.map(({ objectNumber }) => objectNumber),
      marked: moved !== undefined && isMarked(source.catalog),
      ...(outline !== undefined && { outline }),
      ...(form !== undefined && { form }),
      ...(moved !== undefined && { structure: moved }),
      ...(lang !== undefined && { lang: textOf(lang)! }),
      ...(conformance !== undefined && { conformance }),
    };
  },
);

function langOf({ catalog }: PDFDocument): PDFObject | undefined {
  const lang = catalog.lookup(name('Lang'));
  return (textOf(lang)?.length ?? Number.POSITIVE_INFINITY) <= MAX_LANG ? lang : undefined;
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
