/** What the URL of a marker begins with: no address, and known to one render alone. */
export const MARKER_ORIGIN = 'https://field.platen.invalid';

/** The most fields of a document, and the most options of all its lists and characters of all its texts together. */
export const MAX_FIELDS = 2000;
export const MAX_CHOICES = 20_000;
export const MAX_CHARACTERS = 2_000_000;

export const CONTROL_KINDS = ['text', 'textarea', 'password', 'checkbox', 'radio', 'select', 'list'] as const;
export type ControlKind = (typeof CONTROL_KINDS)[number];

/** An option of a list. */
export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly selected: boolean;
}

/** A control of a document, as it was when it was printed. Lengths are CSS pixels, before the scale of the print. */
export interface FormControl {
  /** The number in its marker. */
  readonly id: number;
  readonly kind: ControlKind;
  /** Its name, or its id; empty without either. */
  readonly name: string;
  /** The number of its form, among those of all frames; radio buttons of a name are one field within a form. */
  readonly form: number;
  readonly label: string;
  /** What its fieldset is called. */
  readonly group: string;
  /** The text, or the value that a box stands for. */
  readonly value: string;
  readonly checked: boolean;
  readonly choices: readonly Choice[];
  readonly multiple: boolean;
  readonly required: boolean;
  readonly readOnly: boolean;
  /** Characters; -1 without a bound. */
  readonly maxLength: number;
  /** Of the box with its borders. */
  readonly width: number;
  readonly fontSize: number;
  readonly lineHeight: number;
  /** Of the border and the padding: top, right, bottom, left. */
  readonly inset: readonly [number, number, number, number];
  readonly align: 'left' | 'center' | 'right';
  /** Red, green and blue, from 0 to 1. */
  readonly color: readonly [number, number, number];
}

/** The controls of a document, and how their markers are known. */
export interface PrintedForm {
  /** In the addresses and names of its markers: random. */
  readonly token: string;
  readonly controls: readonly FormControl[];
  /** The values alone, as Chromium prints them, on pages like those of the document; absent where Latin letters do. */
  readonly values?: Uint8Array;
}
