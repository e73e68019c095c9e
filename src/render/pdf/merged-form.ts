import {
  type PDFContext,
  type PDFDocument,
  PDFHexString,
  type PDFObjectCopier,
  PDFRef,
} from '@cantoo/pdf-lib';
import { dictAt, listOf, name } from './objects.ts';

/** The form of one document in a larger one: numbers of objects. */
export interface PartForm {
  /** The field that has those of the document below it. */
  readonly field: number;
  /** The resources of its fields; absent without any. */
  readonly resources?: number;
}

interface FormTarget {
  readonly context: PDFContext;
  readonly copier: PDFObjectCopier;
  /** The number of the document. */
  readonly document: number;
}

/**
 * Moves the fields of a document below one that is named after its number: two documents may have fields of the same name,
 * which would be one field with one value in a form of both (ISO 32000-1, 12.7.3.2).
 */
export function moveForm(
  source: PDFDocument,
  { context, copier, document }: FormTarget,
): PartForm | undefined {
  const form = dictAt(source.catalog, 'AcroForm');
  const fields = listOf(form?.lookup(name('Fields')));
  if (fields.length === 0) return undefined;
  const above = context.nextRef();
  const kids: PDFRef[] = [];
  for (const reference of new Set(fields)) {
    if (!(reference instanceof PDFRef) || dictAt(source.context.lookup(reference)) === undefined) continue;
    const field = copier.copy(reference);
    const moved = dictAt(context.lookup(field));
    if (moved === undefined) continue;
    moved.set(name('Parent'), above);
    kids.push(field);
  }
  context.assign(above, context.obj({ T: PDFHexString.fromText(String(document)), Kids: kids }));
  const resources = dictAt(form, 'DR');
  const moved = resources && context.register(copier.copy(resources));
  return { field: above.objectNumber, ...(moved !== undefined && { resources: moved.objectNumber }) };
}
