import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import {
  PDFArray,
  PDFDict,
  type PDFDocument,
  PDFHexString,
  type PDFObject,
  PDFRawStream,
  type PDFRef,
  PDFString,
} from '@cantoo/pdf-lib';
import type { Attachment } from '../attachment.ts';
import { filesOf } from '../files-of.ts';
import { name } from '../objects.ts';

/**
 * Embeds files, as associated files of the document (ISO 32000-2, 14.13). Each has what PDF/A-3 wants of it: its media
 * type, its size, the time of its change and both forms of its name.
 */
export default function attachFiles(document: PDFDocument, files: readonly Attachment[]): void {
  const { catalog, context } = document;
  const names = catalog.lookupMaybe(name('Names'), PDFDict) ?? context.obj({});
  catalog.set(name('Names'), names);
  const entries = new Map(filesOf(document));
  const associated = new Set(catalog.lookupMaybe(name('AF'), PDFArray)?.asArray());
  for (const file of files) {
    const replaced = entries.get(file.name);
    if (replaced !== undefined) associated.delete(replaced);
    const reference = fileSpecification(document, file);
    associated.add(reference);
    entries.set(file.name, reference);
  }
  catalog.set(name('AF'), context.obj([...associated]));
  names.set(name('EmbeddedFiles'), context.obj({ Names: sortedKeys([...entries]).flat() }));
}

/**
 * The entries in the order in which readers search for their keys (ISO 32000-2, 7.9.6). Some readers compare the bytes, and
 * some the texts: both orders are the same while all keys are written in one way.
 */
function sortedKeys(entries: readonly (readonly [fileName: string, file: PDFObject])[]) {
  const areAscii = entries.every(([fileName]) => isAscii(fileName));
  return entries
    .map(
      ([fileName, file]) =>
        [areAscii ? asciiString(fileName) : PDFHexString.fromText(fileName), file] as const,
    )
    .sort(([one], [other]) => Buffer.compare(one.asBytes(), other.asBytes()));
}

function fileSpecification(
  document: PDFDocument,
  { name: fileName, description, ...file }: Attachment,
): PDFRef {
  const { context } = document;
  const bytes = Buffer.from(file.content, 'base64');
  const deflated = deflateSync(bytes);
  const params = {
    Size: bytes.length,
    CheckSum: PDFHexString.of(createHash('md5').update(bytes).digest('hex')),
    ModDate: PDFString.fromDate(new Date()),
  };
  const dictionary = context.obj({
    Type: 'EmbeddedFile',
    Subtype: name(file.type),
    Params: params,
    Filter: 'FlateDecode',
  });
  const stream = context.register(PDFRawStream.of(dictionary, deflated));
  const specification = context.obj({
    Type: 'Filespec',
    F: textString(fileName),
    UF: textString(fileName),
    EF: { F: stream, UF: stream },
    AFRelationship: name(file.relationship),
  });
  if (description !== undefined) specification.set(name('Desc'), textString(description));
  return context.register(specification);
}

/** A text of ASCII as its bytes, which old readers show as well; any other one in UTF-16. */
function textString(text: string): PDFHexString {
  return isAscii(text) ? asciiString(text) : PDFHexString.fromText(text);
}

function asciiString(text: string): PDFHexString {
  return PDFHexString.of(Buffer.from(text).toString('hex'));
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}
