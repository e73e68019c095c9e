import { PDFArray, PDFDict, type PDFDocument, PDFHexString, PDFNumber, PDFString } from '@cantoo/pdf-lib';
import { type SealPlace, UNKNOWN_OFFSET } from '../../seal/placeholder.ts';
import { name } from '../objects.ts';
import { drawSeal, pageOf } from '../seal-appearance.ts';

/** Printed, so that PDF/A takes it, and locked. */
const FLAGS = 4 | 128;
/** There are signatures, and whoever changes the file is to append to it. */
const SIGNED = 1 | 2;

/**
 * Makes a field for a signature, which is drawn on a page or not seen, and the place for its value (PAdES, ETSI EN 319 142-1): the offsets and
 * the signature itself come when the file is written, and have their length already.
 */
export default async function placeSeal(
  document: PDFDocument,
  { marker, bytes, at, visible, ...texts }: SealPlace,
): Promise<void> {
  const { catalog, context } = document;
  const page = visible === undefined ? document.getPage(0) : pageOf(document, visible.page);
  const value = context.obj({ Type: 'Sig', Filter: 'Adobe.PPKLite', SubFilter: 'ETSI.CAdES.detached' });
  // One beside the other, in this order.
  value.set(name('ByteRange'), context.obj([0, UNKNOWN_OFFSET, UNKNOWN_OFFSET, UNKNOWN_OFFSET]));
  value.set(name('Contents'), PDFHexString.of(marker.padEnd(2 * bytes, '0')));
  value.set(name('M'), PDFString.fromDate(new Date(at)));
  if (texts.reason !== undefined) value.set(name('Reason'), PDFHexString.fromText(texts.reason));
  if (texts.location !== undefined) value.set(name('Location'), PDFHexString.fromText(texts.location));

  const form = catalog.lookupMaybe(name('AcroForm'), PDFDict) ?? context.obj({});
  catalog.set(name('AcroForm'), context.register(form));
  const fields = form.lookupMaybe(name('Fields'), PDFArray) ?? context.obj([]);
  form.set(name('Fields'), fields);
  form.set(name('SigFlags'), PDFNumber.of(SIGNED));
  const widget = context.obj({
    Type: 'Annot',
    Subtype: 'Widget',
    FT: 'Sig',
    T: PDFString.of(nameAmong(fields)),
    V: context.register(value),
    F: FLAGS,
    Rect: [0, 0, 0, 0],
    P: page.ref,
  });
  const field = context.register(widget);
  fields.push(field);
  page.node.addAnnot(field);
  if (visible !== undefined) await drawSeal(page, widget, field, visible);
}

/** The name of the field, which no other field of a PDF that was sent has. */
function nameAmong(fields: PDFArray): string {
  const names = new Set<string | undefined>();
  for (let i = 0; i < fields.size(); i += 1) {
    const field = fields.lookup(i);
    const own = field instanceof PDFDict ? field.lookup(name('T')) : undefined;
    names.add(own instanceof PDFString || own instanceof PDFHexString ? own.decodeText() : undefined);
  }
  for (let i = 1; ; i += 1) {
    const candidate = i === 1 ? 'Seal' : `Seal ${i}`;
    if (!names.has(candidate)) return candidate;
  }
}
