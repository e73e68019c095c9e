import type { PDFDocument } from '@cantoo/pdf-lib';
import { type FieldValues, fillForm } from '../forms/fill.ts';
import { flattenForm } from '../forms/flatten.ts';
import { declaredBy } from '../merged-conformance.ts';

/** What is done to the form of a PDF. */
export interface FillArgument {
  readonly values: FieldValues;
  /** Whether its fields become a part of the pages. */
  readonly flatten: boolean;
  /** Whether every value must be drawn here, since no reader will do it. */
  readonly drawn: boolean;
}

/**
 * Fills in the form of a document, and flattens it if that is asked for.
 *
 * @throws RefusedPdf FORM_FIELD_UNKNOWN, FORM_VALUE_INVALID.
 */
export default function fill(document: PDFDocument, { values, flatten, drawn }: FillArgument): void {
  // In an archive, everything is drawn (ISO 19005-2, 6.4.1).
  fillForm(document, values, drawn || declaredBy(document)?.pdfa !== undefined);
  if (flatten) flattenForm(document);
}
