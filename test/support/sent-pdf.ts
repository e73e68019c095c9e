/** Writes PDFs by hand, also such as no library would write. */

/** A file of objects, each as `1 0 obj … endobj` or its bytes, with its end. The catalog is object 1. */
export function fileOf(objects: readonly (string | Buffer)[]): Buffer {
  const parts = objects.map((object) => Buffer.from(object));
  const end = 'trailer <</Root 1 0 R>>\nstartxref\n9\n%%EOF\n';
  return Buffer.concat([
    Buffer.from('%PDF-1.7\n'),
    ...parts.flatMap((part) => [part, Buffer.from('\n')]),
    Buffer.from(end),
  ]);
}

/** A catalog and one empty page: objects 1 to 3. @param catalog more of the catalog, and `page` of the page. */
export function onePage({ catalog = '', page = '' } = {}): string[] {
  return [
    `1 0 obj <</Type /Catalog /Pages 2 0 R ${catalog}>> endobj`,
    '2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj',
    `3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] ${page}>> endobj`,
  ];
}

/** A stream as an object. @param length what it says that its length is. */
export function streamOf(
  number: number,
  bytes: Uint8Array | string,
  dictionary = '',
  length = Buffer.from(bytes).length,
): Buffer {
  return Buffer.concat([
    Buffer.from(`${number} 0 obj <<${dictionary} /Length ${length}>> stream\n`),
    Buffer.from(bytes),
    Buffer.from('\nendstream endobj'),
  ]);
}
