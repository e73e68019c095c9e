import {
  PDFBool,
  PDFCheckBox,
  PDFDict,
  type PDFDocument,
  PDFDropdown,
  type PDFField,
  PDFHexString,
  PDFOptionList,
  PDFRadioGroup,
  PDFTextField,
} from '@cantoo/pdf-lib';
import { name } from '../objects.ts';
import { RefusedPdf } from '../sent/refusal.ts';
import { drawValue, isTextual, optionsOf } from './draw-value.ts';
import { ValueFonts } from './value-fonts.ts';

/** A value of a field: null for none. */
export type FieldValue = string | number | boolean | readonly string[] | null;
export type FieldValues = Readonly<Record<string, FieldValue>>;

/** Names and errors that a message lists, and characters of a name or value in it. */
const LISTED = 20;
const SHOWN = 60;

/**
 * Fills in fields, and draws their values in fonts that are put into the document. Fields that are for reading alone are
 * filled in as well: that binds whoever has the document before them.
 *
 * @param drawn whether every value has to be drawn here. Otherwise a reader draws what no font of ours has.
 * @throws RefusedPdf with all that is wrong with the values.
 */
export function fillForm(document: PDFDocument, values: FieldValues, drawn: boolean): void {
  const fields = new Map(fieldsOf(document).map((field) => [field.getName(), field]));
  const unknown = Object.keys(values).filter((each) => !fields.has(each));
  if (unknown.length > 0) throw unknownFields(unknown, [...fields.keys()]);
  const fonts = new ValueFonts(document);
  const errors: string[] = [];
  for (const [each, value] of Object.entries(values)) {
    const field = fields.get(each)!;
    const error =
      setValue(field, value) ?? (isTextual(field) ? drawIn(field, fonts, drawn, document) : undefined);
    if (error !== undefined) errors.push(`${quoted(each)} ${error}`);
  }
  if (errors.length > 0) throw new RefusedPdf('FORM_VALUE_INVALID', `${listed(errors, '; ')}.`);
  fonts.write();
}

/** The fields of a document, each with the whole of its name. */
export function fieldsOf(document: PDFDocument): PDFField[] {
  return document.catalog.has(name('AcroForm')) ? document.getForm().getFields() : [];
}

function unknownFields(unknown: readonly string[], known: readonly string[]): RefusedPdf {
  const are = known.length === 0 ? 'it has none' : `it has ${listed(known.map(quoted), ', ')}`;
  const names = listed(unknown.map(quoted), ', ');
  return new RefusedPdf('FORM_FIELD_UNKNOWN', `The PDF has no field ${names}: ${are}.`);
}

/** @returns what is wrong with the value, and what is allowed, in words that follow the name of the field. */
function setValue(field: PDFField, value: FieldValue): string | undefined {
  if (field instanceof PDFTextField) return setText(field, value);
  if (field instanceof PDFCheckBox) return setBox(field, value);
  if (field instanceof PDFRadioGroup) {
    const options = field.getOptions();
    if (value === null) field.clear();
    else if (typeof value === 'string' && options.includes(value)) field.select(value);
    else return notAllowed(value, options);
    return undefined;
  }
  if (field instanceof PDFDropdown || field instanceof PDFOptionList) return setChoice(field, value);
  return 'is a button or a signature, which has no value';
}

function setText(field: PDFTextField, value: FieldValue): string | undefined {
  if (typeof value === 'boolean' || Array.isArray(value)) return `is a text, and cannot be ${shown(value)}`;
  const text = value === null ? '' : String(value).replaceAll(/\r\n?/g, '\n');
  const most = field.getMaxLength();
  if (most !== undefined && text.length > most)
    return `takes ${most} characters at most, and ${shown(text)} has ${text.length}`;
  if (text.includes('\n') && !field.isMultiline()) return `has one line, and ${shown(text)} has more`;
  field.acroField.dict.set(name('V'), PDFHexString.fromText(text.toWellFormed()));
  field.acroField.dict.delete(name('RV'));
  return undefined;
}

function setBox(field: PDFCheckBox, value: FieldValue): string | undefined {
  const on = field.acroField.getOnValue()?.decodeText() ?? 'Yes';
  if (value === true || value === on) field.check();
  else if (value === false || value === null) field.uncheck();
  else return `cannot be ${shown(value)}: it takes true, false or ${quoted(on)}`;
  if (field.needsAppearancesUpdate()) field.defaultUpdateAppearances();
  return undefined;
}

function setChoice(field: PDFDropdown | PDFOptionList, value: FieldValue): string | undefined {
  const options = optionsOf(field);
  const given = value === null ? [] : Array.isArray(value) ? (value as readonly string[]) : [String(value)];
  if (given.length > 1 && !field.isMultiselect()) return `takes one value, and not ${given.length}`;
  const isOpen = field instanceof PDFDropdown && field.isEditable();
  const chosen = given.map(
    (each) => options.find((option) => option.value === each || option.label === each)?.value,
  );
  const wrong = given.find((_, i) => chosen[i] === undefined);
  if (wrong !== undefined && !isOpen)
    return notAllowed(
      wrong,
      options.map((option) => option.value),
    );
  const texts = given.map((each, i) => PDFHexString.fromText((chosen[i] ?? each).toWellFormed()));
  const { dict } = field.acroField;
  const [only] = texts;
  if (only === undefined) dict.delete(name('V'));
  else dict.set(name('V'), texts.length === 1 ? only : dict.context.obj(texts));
  const indices = options.flatMap((option, i) => (chosen.includes(option.value) ? [i] : []));
  if (field instanceof PDFOptionList && indices.length > 0) dict.set(name('I'), dict.context.obj(indices));
  else dict.delete(name('I'));
  return undefined;
}

/** Draws the new value. @returns what is wrong where it cannot be. */
function drawIn(
  field: Parameters<typeof drawValue>[0],
  fonts: ValueFonts,
  drawn: boolean,
  { catalog }: PDFDocument,
): string | undefined {
  if (drawValue(field, fonts)) return undefined;
  if (drawn)
    return 'cannot be drawn: its letters are joined or written from right to left, or no one font that is installed has all of them';
  // A reader draws them.
  for (const widget of field.acroField.getWidgets()) widget.dict.delete(name('AP'));
  catalog.lookup(name('AcroForm'), PDFDict).set(name('NeedAppearances'), PDFBool.True);
  return undefined;
}

function notAllowed(value: unknown, allowed: readonly string[]): string {
  return `cannot be ${shown(value)}: it takes ${allowed.length === 0 ? 'nothing' : listed(allowed.map(quoted), ', ')}`;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? quoted(value) : (JSON.stringify(value) ?? 'undefined').slice(0, SHOWN);
}

function quoted(text: string): string {
  const short = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
  return JSON.stringify(short.toWellFormed());
}

function listed(parts: readonly string[], between: string): string {
  const rest = parts.length - LISTED;
  return parts.slice(0, LISTED).join(between) + (rest > 0 ? `${between}and ${rest} more` : '');
}
