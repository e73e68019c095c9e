import { PDFArray, PDFDict, type PDFDocument, type PDFObject, PDFRef, PDFStream } from '@cantoo/pdf-lib';

/**
 * Takes out of a document what neither its catalog nor its information leads to: what was deleted from it, and what holds
 * other objects in its file, such as streams of objects. Takes linear time, and no stack.
 */
export function dropUnreachable({ context }: PDFDocument): void {
  const seen = new Set<PDFRef>();
  const ahead: (PDFObject | undefined)[] = [context.trailerInfo.Root, context.trailerInfo.Info];
  while (ahead.length > 0) {
    const object = ahead.pop();
    if (object instanceof PDFRef) {
      if (seen.has(object)) continue;
      seen.add(object);
      ahead.push(context.lookup(object));
    } else for (const part of partsOf(object)) ahead.push(part);
  }
  let largest = 0;
  for (const [ref] of context.enumerateIndirectObjects()) {
    if (seen.has(ref)) largest = Math.max(largest, ref.objectNumber);
    else context.delete(ref);
  }
  // The file says how many there are.
  context.largestObjectNumber = largest;
}

/** The objects that an object directly consists of. */
export function partsOf(object: PDFObject | undefined): readonly PDFObject[] {
  if (object instanceof PDFDict) return object.values();
  if (object instanceof PDFArray) return object.asArray();
  return object instanceof PDFStream ? object.dict.values() : [];
}
