import { deflateSync } from 'node:zlib';
import {
  decodePDFRawStream,
  PDFArray,
  PDFDict,
  type PDFDocument,
  type PDFName,
  PDFNumber,
  type PDFObject,
  PDFRawStream,
  PDFRef,
  PDFStream,
  PDFString,
} from '@cantoo/pdf-lib';
import type { ArchiveLevel } from '../conformance/target.ts';
import { dictAt, KEYS, listOf, name, textOf } from '../objects.ts';
import { mendAnnotations } from './archive-annotations.ts';
import { checkColours } from './archive-colours.ts';
import { ArchiveFindings } from './archive-findings.ts';
import { checkFonts } from './archive-fonts.ts';
import { drawnBy } from './drawn.ts';
import { partsOf } from './reachable.ts';

/** Actions that no PDF/A may have (ISO 19005-2, 6.5.1). */
const FORBIDDEN_ACTIONS = new Set(
  (
    'Launch Sound Movie ResetForm ImportData Hide SetOCGState Rendition Trans GoTo3DView JavaScript SetState NOP ' +
    'RichMediaExecute'
  ).split(' '),
);
const PAGE_ACTIONS = new Set(['NextPage', 'PrevPage', 'FirstPage', 'LastPage']);
/** Keys whose value is an action. */
const ACTION_KEYS = ['A', 'PA', 'OpenAction', 'Next'].map(name);
/** Keys that go, with what they are, from dictionaries of any kind. */
const DROPPED: readonly (readonly [key: PDFName, what: string])[] = [
  [name('AA'), 'actions that run by themselves'],
  [name('Alternates'), 'alternate pictures'],
  [name('OPI'), 'references to pictures outside (OPI)'],
  [name('PresSteps'), 'steps of a presentation'],
  [name('TR'), 'transfer functions'],
  [name('HTP'), 'halftone phases'],
];
/** Keys that go from the catalog. */
const DROPPED_OF_CATALOG: readonly (readonly [key: PDFName, what: string])[] = [
  [name('Requirements'), 'requirements of viewers'],
  [name('Perms'), 'permissions of an earlier signature'],
  [name('NeedsRendering'), 'a request to draw it anew'],
];

/**
 * Makes a PDF of others conform to level B of PDF/A-2 or PDF/A-3 (ISO 19005-2 and -3) as far as that takes away nothing that is
 * seen: what only its author can mend is a fault. Its packet and its output intent are written by the step `conformance`.
 *
 * @returns what was mended, and what cannot be.
 */
export function archive(document: PDFDocument, level: ArchiveLevel): ArchiveFindings {
  const found = new ArchiveFindings();
  mendCatalog(document, level, found);
  mendAnnotations(document, level, found);
  for (const dict of dictionariesOf(document)) mendDictionary(document, dict, level, found);
  mendStreams(document, found);
  const drawn = drawnBy(document);
  checkFonts(document, drawn, found);
  checkColours(document, drawn, found);
  return found;
}

function mendCatalog({ catalog, context }: PDFDocument, level: ArchiveLevel, found: ArchiveFindings): void {
  if (catalog.lookup(name('NeedsRendering'))?.toString() === 'true')
    found.fault('it is an XFA form, whose pages are drawn by its viewer');
  for (const [key, what] of DROPPED_OF_CATALOG) drop(catalog, key, what, found);
  const names = dictAt(catalog, 'Names');
  if (names !== undefined) {
    drop(names, name('JavaScript'), 'scripts', found);
    drop(names, name('AlternatePresentations'), 'alternate presentations', found);
    if (level === '2b' && names.has(name('EmbeddedFiles')))
      found.fault('it has files attached, which PDF/A-2 takes of no other type than PDF/A: ask for 3b');
  }
  const form = dictAt(catalog, 'AcroForm');
  if (form !== undefined) {
    drop(form, name('XFA'), 'the XFA of its form', found);
    drop(form, name('NeedAppearances'), 'a request to draw its fields anew', found);
  }
  const optional = dictAt(catalog, 'OCProperties');
  const configurations = [optional?.get(name('D')), ...listOf(optional?.lookup(name('Configs')))];
  for (const [i, each] of configurations.entries()) {
    const configuration = dictAt(context.lookup(each));
    if (configuration === undefined) continue;
    drop(configuration, name('AS'), 'layers that change by themselves', found);
    if (!configuration.has(name('Name'))) {
      configuration.set(name('Name'), PDFString.of(`Configuration ${i + 1}`));
      found.mended('names of configurations of layers were added');
    }
  }
}

/** Every dictionary of the document, those of streams included. */
function* dictionariesOf({ context }: PDFDocument): Generator<PDFDict> {
  const ahead: PDFObject[] = context.enumerateIndirectObjects().map(([, object]) => object);
  for (let object = ahead.pop(); object !== undefined; object = ahead.pop()) {
    if (object instanceof PDFDict) yield object;
    else if (object instanceof PDFStream) yield object.dict;
    for (const part of partsOf(object)) if (!(part instanceof PDFRef)) ahead.push(part);
  }
}

function mendDictionary(
  document: PDFDocument,
  dict: PDFDict,
  level: ArchiveLevel,
  found: ArchiveFindings,
): void {
  const { catalog, context } = document;
  for (const [key, what] of DROPPED) drop(dict, key, what, found);
  if (dict.has(name('TR2')) && dict.get(name('TR2')) !== name('Default'))
    drop(dict, name('TR2'), 'transfer functions', found);
  if (dict !== catalog && dict.lookup(name('Metadata')) instanceof PDFStream) {
    dict.delete(name('Metadata'));
    found.removed('metadata of its parts were removed');
  }
  for (const key of ACTION_KEYS) {
    const action = dictAt(dict, key);
    if (action !== undefined && isForbidden(action))
      drop(dict, key, `actions (${String(action.get(name('S'))).slice(1)})`, found);
  }
  if (dict.lookup(name('Interpolate'))?.toString() === 'true') {
    dict.delete(name('Interpolate'));
    found.mended('pictures are no longer smoothed by viewers');
  }
  if (dict.get(KEYS.Subtype) === name('PS') && dict.get(KEYS.Type) === KEYS.XObject)
    found.fault('it has a program in PostScript');
  const files = dictAt(dict, 'EF');
  if (files === undefined) return;
  if (level === '2b') {
    found.fault('it has files attached, which PDF/A-2 takes of no other type than PDF/A: ask for 3b');
    return;
  }
  mendFile(document, dict, files, found);
  const associated = catalog.lookup(name('AF'));
  const list = associated instanceof PDFArray ? associated : context.obj([]);
  catalog.set(name('AF'), list);
  const ref = context.getObjectRef(dict) ?? context.register(dict);
  if (list.asArray().includes(ref)) return;
  list.push(ref);
  found.mended('attached files were associated with the document');
}

function mendFile({ context }: PDFDocument, dict: PDFDict, files: PDFDict, found: ArchiveFindings): void {
  const before = dict.keys().length;
  const title = [dict.lookup(name('UF')), dict.lookup(name('F'))].find((text) => textOf(text) !== undefined);
  const text = title ?? PDFString.of('attachment');
  for (const key of ['F', 'UF']) if (!dict.has(name(key))) dict.set(name(key), text);
  if (!dict.has(name('AFRelationship'))) dict.set(name('AFRelationship'), name('Unspecified'));
  let changed = dict.keys().length !== before;
  for (const each of files.values()) {
    const stream = context.lookup(each);
    if (!(stream instanceof PDFStream) || stream.dict.has(KEYS.Subtype)) continue;
    stream.dict.set(KEYS.Subtype, name('application/octet-stream'));
    changed = true;
  }
  if (changed) found.mended('names, types and relationships of attached files were added');
}

function isForbidden(action: PDFDict): boolean {
  const type = String(action.get(name('S'))).slice(1);
  if (type === 'Named') return !PAGE_ACTIONS.has(String(action.get(name('N'))).slice(1));
  return FORBIDDEN_ACTIONS.has(type);
}

/** Streams are in the file, and not compressed by LZW (ISO 19005-2, 6.1.7). */
function mendStreams({ context }: PDFDocument, found: ArchiveFindings): void {
  for (const [ref, object] of context.enumerateIndirectObjects()) {
    if (!(object instanceof PDFRawStream)) continue;
    const { dict } = object;
    if (dict.has(name('F'))) found.fault('a stream of it lies in another file');
    const filter = dict.lookup(name('Filter'));
    const filters = filter instanceof PDFArray ? filter.asArray() : [filter];
    if (!filters.some((each) => each === name('LZWDecode') || each === name('LZW'))) continue;
    const bytes = decodePDFRawStream(object).decode();
    dict.delete(name('DecodeParms'));
    dict.set(name('Filter'), name('FlateDecode'));
    const deflated = deflateSync(bytes);
    dict.set(name('Length'), PDFNumber.of(deflated.length));
    context.assign(ref, PDFRawStream.of(dict, deflated));
    found.mended('streams were compressed in another way (LZW)');
  }
}

function drop(dict: PDFDict, key: PDFName, what: string, found: ArchiveFindings): void {
  if (dict.delete(key)) found.mended(`${what} were removed`);
}
