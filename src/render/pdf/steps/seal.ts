import {
  PDFArray,
  PDFDict,
  type PDFDocument,
  PDFHexString,
  PDFName,
  PDFNumber,
  PDFString,
} from '@cantoo/pdf-lib';
import { type SealPlace, UNKNOWN_OFFSET } from '../../seal/placeholder.ts';

const name = (text: string) => PDFName.of(text);
/** Printed, so that PDF/A takes it, and locked. */
const FLAGS = 4 | 128;
/** There are signatures, and whoever changes the file is to append to it. */
const SIGNED = 1 | 2;

/**
 * Makes a field for a signature, which is not seen, and the place for its value (PAdES, ETSI EN 319 142-1): the offsets and
 * the signature itself come when the file is written, and have their length already.
 */
export default function placeSeal(document: PDFDocument, { marker, bytes, at, ...texts }: SealPlace): void {
  const { catalog, context } = document;
  const page = document.getPage(0);
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
  const field = context.register(
    context.obj({
      Type: 'Annot',
      Subtype: 'Widget',
      FT: 'Sig',
      T: PDFString.of('Seal'),
      V: context.register(value),
      F: FLAGS,
      Rect: [0, 0, 0, 0],
      P: page.ref,
    }),
  );
  fields.push(field);
  page.node.addAnnot(field);
}
