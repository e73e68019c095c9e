import type { PDFDocument } from '@cantoo/pdf-lib';
import type { PrintedForm } from '../forms/control.ts';
import { fieldFont } from '../forms/field-font.ts';
import { FieldWriter } from '../forms/fields.ts';
import { takeMarkers } from '../forms/markers.ts';
import { PrintedValues } from '../forms/printed-values.ts';
import { tagWidgets } from '../forms/tags.ts';

/** Makes fields of the controls of a document, where their markers have been printed. */
export default async function makeForm(document: PDFDocument, form: PrintedForm): Promise<void> {
  const places = takeMarkers(document, form.token);
  const placed = form.controls.flatMap((control) => {
    const own = places.get(control.id);
    return own === undefined ? [] : [{ control, places: own }];
  });
  if (placed.length === 0) return;
  const values = form.values && (await PrintedValues.open(document, form.values));
  const writer = new FieldWriter(document, fieldFont(), values);
  await writer.write(placed);
  tagWidgets(document, writer.widgets, `${form.token} `);
}
