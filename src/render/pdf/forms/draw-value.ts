import {
  type PDFContext,
  PDFDropdown,
  type PDFField,
  PDFOptionList,
  PDFTextField,
  type PDFWidgetAnnotation,
} from '@cantoo/pdf-lib';
import { dictAt, name, numberOf, textOf } from '../objects.ts';
import { combAppearance, listAppearance, type TextStyle, textAppearance } from './appearance.ts';
import type { Choice } from './control.ts';
import type { FieldFont } from './field-font.ts';
import type { ValueFonts } from './value-fonts.ts';

/** Points: of a text whose size is not said, as large as fits; and of the inset of a text. */
const AUTO = { most: 12, least: 4 };
const INSET = 2;
const LINE = 1.15;

/** A field whose value is a text, or some of several. */
export type TextualField = PDFTextField | PDFDropdown | PDFOptionList;

export function isTextual(field: PDFField): field is TextualField {
  return field instanceof PDFTextField || field instanceof PDFDropdown || field instanceof PDFOptionList;
}

/** Draws the value of a field in each of its places. @returns whether there is a font for it; without one, nothing changes. */
export function drawValue(field: TextualField, fonts: ValueFonts): boolean {
  const choices = field instanceof PDFOptionList ? choicesOf(field) : [];
  const texts = field instanceof PDFOptionList ? choices.map(({ label }) => label) : [textIn(field)];
  const font = fonts.for(texts);
  if (font === undefined) return false;
  for (const widget of field.acroField.getWidgets())
    drawWidget(field, { widget, font, fonts, choices, text: texts[0] ?? '' });
  return true;
}

/** The text that a field shows. */
function textIn(field: PDFTextField | PDFDropdown): string {
  if (field instanceof PDFTextField) return field.isPassword() ? '' : (field.getText() ?? '');
  const [selected = ''] = field.getSelected();
  return optionsOf(field).find(({ value }) => value === selected)?.label ?? selected;
}

/** The options of a list, with what it shows for each. */
export function optionsOf(
  field: PDFDropdown | PDFOptionList,
): { readonly value: string; readonly label: string }[] {
  return field.acroField.getOptions().map(({ value, display }) => ({
    value: value.decodeText(),
    label: (display ?? value).decodeText(),
  }));
}

function choicesOf(field: PDFOptionList): Choice[] {
  const selected = new Set(field.getSelected());
  return optionsOf(field).map((option) => ({ ...option, selected: selected.has(option.value) }));
}

interface Drawn {
  readonly widget: PDFWidgetAnnotation;
  readonly font: FieldFont;
  readonly fonts: ValueFonts;
  readonly choices: readonly Choice[];
  readonly text: string;
}

function drawWidget(field: TextualField, { widget, font, fonts, choices, text }: Drawn): void {
  const { dict } = widget;
  const { context } = dict;
  const { width, height } = widget.getRectangle();
  const turn = widget.getAppearanceCharacteristics()?.getRotation() ?? 0;
  const box = turn % 180 === 0 ? { width, height, scale: 1 } : { width: height, height: width, scale: 1 };
  const kind =
    field instanceof PDFTextField && field.isMultiline()
      ? 'textarea'
      : field instanceof PDFOptionList
        ? 'list'
        : 'text';
  const { size, color } = appearanceOf(field, widget);
  const room = box.width - 2 * INSET;
  const shown = field instanceof PDFTextField && field.getMaxLength();
  const fontSize = size || automaticSize(kind === 'text' ? text : '', { room, height: box.height, font });
  const align = (['left', 'center', 'right'] as const)[quaddingOf(field)] ?? 'left';
  const style: TextStyle = {
    kind,
    align,
    fontSize,
    lineHeight: fontSize * LINE,
    inset: [INSET, INSET, INSET, INSET],
    color,
  };
  const operators =
    kind === 'list'
      ? listAppearance({ ...style, choices }, box, font)
      : shown && field instanceof PDFTextField && field.isCombed()
        ? combAppearance(style, { text, cells: shown }, box, font)
        : textAppearance(style, text, box, font);
  const stream = context.flateStream(`${frameOf(widget, box)}${operators}`, {
    Type: 'XObject',
    Subtype: 'Form',
    BBox: [0, 0, box.width, box.height],
    Matrix: matrixOf(turn, width, height),
    Resources: { Font: { [font.name]: fonts.refOf(font) } },
  });
  dict.set(name('AP'), context.obj({ N: context.register(stream) }));
}

/** The background and the border that a widget has by itself. */
function frameOf(
  widget: PDFWidgetAnnotation,
  { width, height }: { readonly width: number; readonly height: number },
): string {
  const characteristics = widget.getAppearanceCharacteristics();
  const background = colorOperator(characteristics?.getBackgroundColor(), false);
  const border = colorOperator(characteristics?.getBorderColor(), true);
  const line = widget.getBorderStyle()?.getWidth() ?? 1;
  const parts: string[] = [];
  if (background !== undefined) parts.push(`q ${background} 0 0 ${width} ${height} re f Q`);
  if (border !== undefined && line > 0)
    parts.push(`q ${border} ${line} w ${line / 2} ${line / 2} ${width - line} ${height - line} re S Q`);
  return parts.map((part) => `${part}\n`).join('');
}

function colorOperator(parts: readonly number[] | undefined, stroke: boolean): string | undefined {
  const operator = { 1: 'g', 3: 'rg', 4: 'k' }[parts?.length ?? 0];
  return operator && `${parts!.join(' ')} ${stroke ? operator.toUpperCase() : operator}`;
}

/** Turns an appearance as its widget says. */
function matrixOf(turn: number, width: number, height: number): number[] {
  switch (((turn % 360) + 360) % 360) {
    case 90:
      return [0, 1, -1, 0, width, 0];
    case 180:
      return [-1, 0, 0, -1, width, height];
    case 270:
      return [0, -1, 1, 0, 0, height];
    default:
      return [1, 0, 0, 1, 0, 0];
  }
}

/** The size and the colour of a field's default appearance; a size of 0 is one that fits. */
function appearanceOf(field: TextualField, widget: PDFWidgetAnnotation) {
  const text =
    widget.getDefaultAppearance() ??
    field.acroField.getDefaultAppearance() ??
    formAppearance(widget.dict.context);
  const size = Number(/(\d*\.?\d+)\s+Tf\b/.exec(text)?.[1] ?? 0);
  const numbers = (operator: string, count: number) =>
    new RegExp(`((?:\\d*\\.?\\d+\\s+){${count}})${operator}\\b`)
      .exec(text)?.[1]
      ?.trim()
      .split(/\s+/)
      .map(Number);
  const [grey] = numbers('g', 1) ?? [];
  const inks = numbers('k', 4);
  const [key = 0] = inks?.slice(3) ?? [];
  const color = numbers('rg', 3) ??
    inks?.slice(0, 3).map((ink) => (1 - ink) * (1 - key)) ?? [grey ?? 0, grey ?? 0, grey ?? 0];
  return { size, color: color as unknown as TextStyle['color'] };
}

/** The default appearance of the form, which holds where a field has none. */
function formAppearance(context: PDFContext): string {
  const form = dictAt(context.lookup(context.trailerInfo.Root), 'AcroForm');
  return textOf(form?.lookup(name('DA'))) ?? '';
}

function quaddingOf({ acroField }: TextualField): number {
  return numberOf(acroField.getInheritableAttribute(name('Q'))) ?? 0;
}

/** As large as fits the box, within bounds. */
function automaticSize(
  text: string,
  { room, height, font }: { readonly room: number; readonly height: number; readonly font: FieldFont },
): number {
  const byWidth = (room * 1000) / Math.max(1, font.widthOf(text));
  return Math.max(AUTO.least, Math.min(AUTO.most, height * 0.7, text === '' ? AUTO.most : byWidth));
}

/** Whether a widget has something to be shown by. */
export function hasAppearance({ dict }: PDFWidgetAnnotation): boolean {
  return dictAt(dict, 'AP')?.has(name('N')) === true;
}
