import type { FormControl } from './control.ts';
import type { FieldFont } from './field-font.ts';
import { brokenInto } from './text-layout.ts';

/** A place in which a field is drawn. Points. */
export interface Box {
  readonly width: number;
  readonly height: number;
  /** Points for a CSS pixel. */
  readonly scale: number;
}

/** Behind the selected options of a list. */
const SELECTED = '0.73 0.84 0.96 rg';
/** The part of a circle's radius at which the curves of its quarters have their control points. */
const CURVE = 0.5523;

const number = (value: number): string => String(Number(value.toFixed(3)));
const at = (...values: readonly number[]): string => values.map(number).join(' ');

/** How the text of a field is drawn. Lengths are CSS pixels, or points for a scale of 1. */
export type TextStyle = Pick<FormControl, 'kind' | 'align' | 'lineHeight' | 'fontSize' | 'inset' | 'color'>;

/** The default appearance of a field: the font, size and colour of what is filled in. */
export function defaultAppearance(
  { fontSize, color }: Pick<TextStyle, 'fontSize' | 'color'>,
  scale: number,
  font: Pick<FieldFont, 'name'>,
): string {
  return `/${font.name} ${number(fontSize * scale)} Tf ${at(...color)} rg`;
}

/** The operators that draw a text in its box. */
export function textAppearance(control: TextStyle, text: string, box: Box, font: FieldFont): string {
  const { kind, align, lineHeight, fontSize } = control;
  const size = fontSize * box.scale;
  const inset = control.inset.map((side) => side * box.scale);
  const [top = 0, right = 0, , left = 0] = inset;
  const room = Math.max(1, box.width - left - right);
  const lines =
    kind === 'textarea' ? brokenInto(text, (room * 1000) / size, font) : [text.replaceAll('\n', ' ')];
  const step = lineHeight * box.scale;
  const middle = ((font.ascent + font.descent) / 2 / 1000) * size;
  const first = kind === 'textarea' ? box.height - top - step / 2 - middle : box.height / 2 - middle;
  const drawn = lines.map((line, i) => {
    const spare = room - (font.widthOf(line) * size) / 1000;
    const shift = align === 'left' || spare < 0 ? 0 : align === 'right' ? spare : spare / 2;
    return `1 0 0 1 ${at(left + shift, first - i * step)} Tm ${font.encoded(line)} Tj`;
  });
  return marked(`q\n0 0 ${at(box.width, box.height)} re W n\n${textObject(control, box, font, drawn)}\nQ`);
}

/** The operators that draw a text with each of its characters in a cell of its own. */
export function combAppearance(
  style: TextStyle,
  { text, cells }: { readonly text: string; readonly cells: number },
  box: Box,
  font: FieldFont,
): string {
  const size = style.fontSize * box.scale;
  const cell = box.width / Math.max(1, cells);
  const baseline = box.height / 2 - ((font.ascent + font.descent) / 2 / 1000) * size;
  const drawn = Array.from(text, (character, i) => {
    const left = i * cell + (cell - (font.widthOf(character) * size) / 1000) / 2;
    return `1 0 0 1 ${at(left, baseline)} Tm ${font.encoded(character)} Tj`;
  });
  return marked(`q\n${textObject(style, box, font, drawn)}\nQ`);
}

/** The operators that draw the options of a list, as many as fit. */
export function listAppearance(
  control: TextStyle & Pick<FormControl, 'choices'>,
  box: Box,
  font: FieldFont,
): string {
  const step = control.lineHeight * box.scale;
  const size = control.fontSize * box.scale;
  const inset = control.inset.map((side) => side * box.scale);
  const [top = 0, right = 0, bottom = 0, left = 0] = inset;
  const rows = Math.max(1, Math.floor((box.height - top - bottom) / step + 0.2));
  const shown = control.choices.slice(0, rows);
  const lower = (i: number) => box.height - top - (i + 1) * step;
  const backgrounds = shown.flatMap(({ selected }, i) =>
    selected ? [`${at(left, lower(i), box.width - left - right, step)} re f`] : [],
  );
  const middle = ((font.ascent + font.descent) / 2 / 1000) * size;
  const texts = shown.map(
    ({ label }, i) =>
      `1 0 0 1 ${at(left + 2 * box.scale, lower(i) + step / 2 - middle)} Tm ${font.encoded(label)} Tj`,
  );
  const area = `${at(left, bottom, box.width - left - right, box.height - top - bottom)} re W n`;
  return marked(['q', area, SELECTED, ...backgrounds, textObject(control, box, font, texts), 'Q'].join('\n'));
}

/** The operators that draw the mark of a box that is ticked, or of a radio button that is chosen. */
export function markAppearance({ kind, color }: FormControl, { width, height }: Box): string {
  const side = Math.min(width, height);
  const [x, y] = [(width - side) / 2, (height - side) / 2];
  if (kind === 'radio') return `q\n${at(...color)} rg\n${circle(width / 2, height / 2, side * 0.25)} f\nQ`;
  const points = [
    [0.22, 0.52],
    [0.42, 0.3],
    [0.78, 0.74],
  ].map(([right = 0, up = 0]) => at(x + right * side, y + up * side));
  return `q\n${at(...color)} RG\n${number(side * 0.12)} w\n${points[0]} m ${points[1]} l ${points[2]} l S\nQ`;
}

function textObject(style: TextStyle, { scale }: Box, font: FieldFont, lines: readonly string[]): string {
  return ['BT', defaultAppearance(style, scale, font), ...lines, 'ET'].join('\n');
}

/** What a reader replaces when a field is filled in. */
function marked(operators: string): string {
  return `/Tx BMC\n${operators}\nEMC`;
}

function circle(x: number, y: number, radius: number): string {
  const bend = radius * CURVE;
  return [
    `${at(x + radius, y)} m`,
    `${at(x + radius, y + bend, x + bend, y + radius, x, y + radius)} c`,
    `${at(x - bend, y + radius, x - radius, y + bend, x - radius, y)} c`,
    `${at(x - radius, y - bend, x - bend, y - radius, x, y - radius)} c`,
    `${at(x + bend, y - radius, x + radius, y - bend, x + radius, y)} c`,
  ].join(' ');
}
