import type { PDFDocument, PDFObject } from '@cantoo/pdf-lib';
import { dictAt, leavesOf, name, textOf } from './objects.ts';

/** The files embedded in a document, by their names. */
export function* filesOf({
  catalog,
  context,
}: PDFDocument): Generator<readonly [fileName: string, file: PDFObject]> {
  const tree = dictAt(catalog, 'Names')?.get(name('EmbeddedFiles'));
  for (const { key, value } of leavesOf(context, tree, 'Names')) {
    const fileName = textOf(key);
    if (fileName !== undefined) yield [fileName, value];
  }
}
