import {
  type PDFArray,
  type PDFContext,
  type PDFDict,
  type PDFDocument,
  PDFHexString,
  PDFNumber,
  type PDFObject,
  type PDFRef,
} from '@cantoo/pdf-lib';
import { name } from '../objects.ts';
import { type Box, defaultAppearance, listAppearance, markAppearance, textAppearance } from './appearance.ts';
import type { Choice, FormControl } from './control.ts';
import { FONT_NAME, type FormFont } from './field-font.ts';
import { FieldNames } from './field-names.ts';
import type { Place } from './markers.ts';
import type { PrintedValues } from './printed-values.ts';
import { shownTexts } from './shown-texts.ts';
import { isWinAnsi } from './win-ansi.ts';

const text = (value: string) => PDFHexString.fromText(value.toWellFormed());

/** Flags of fields (ISO 32000-1, 12.7.3 and 12.7.4). */
const READ_ONLY = 1;
const REQUIRED = 2;
const MULTILINE = 1 << 12;
const PASSWORD = 1 << 13;
const NO_TOGGLE_TO_OFF = 1 << 14;
const RADIO = 1 << 15;
const COMBO = 1 << 17;
const MULTI_SELECT = 1 << 21;
/** Printed with the page. */
const PRINTED = 4;
const OFF = 'Off';
/** A value that is a name as it is. */
const PLAIN = /^[\x21-\x22\x24-\x7e][\x20-\x22\x24-\x7e]{0,99}$/;
const QUADDING = { left: 0, center: 1, right: 2 } as const;

/** A control with its places. */
export interface PlacedControl {
  readonly control: FormControl;
  readonly places: readonly Place[];
}

/** A widget of a field, and the control that it stands for. */
export interface Widget {
  readonly control: FormControl;
  readonly ref: PDFRef;
  readonly dict: PDFDict;
  readonly page: Place['page'];
}

/** Writes the fields of a document (ISO 32000-1, 12.7). */
export class FieldWriter {
  readonly widgets: Widget[] = [];
  readonly #context: PDFContext;
  readonly #font: FormFont;
  readonly #fontRef: PDFRef;
  readonly #values: PrintedValues | undefined;
  readonly #names = new FieldNames();
  readonly #top: PDFArray;
  /** What has fields below it, by its name. */
  readonly #groups = new Map<string, { readonly ref: PDFRef; readonly kids: PDFArray }>();

  constructor(document: PDFDocument, font: FormFont, values: PrintedValues | undefined) {
    this.#context = document.context;
    this.#font = font;
    this.#values = values;
    this.#fontRef = font.embed(document);
    this.#top = this.#context.obj([]);
    const resources = { Font: { [FONT_NAME]: this.#fontRef } };
    const form = { Fields: this.#top, DR: resources, DA: text(`/${FONT_NAME} 0 Tf 0 g`) };
    document.catalog.set(name('AcroForm'), this.#context.register(this.#context.obj(form)));
  }

  /** @param controls in the order in which they are gone through. @returns the number of fields. */
  async write(controls: readonly PlacedControl[]): Promise<number> {
    let fields = 0;
    for (const group of fieldsOf(controls)) {
      await this.#field(group);
      fields += 1;
    }
    const order = new Map(controls.map(({ control }, i) => [control, i]));
    this.widgets.sort((one, other) => order.get(one.control)! - order.get(other.control)!);
    for (const { page, ref } of this.widgets) page.node.addAnnot(ref);
    return fields;
  }

  async #field(controls: readonly PlacedControl[]): Promise<void> {
    const [{ control: first }] = controls as readonly [PlacedControl];
    const field = this.#context.obj({ TU: text(titleOf(first)) });
    const dict: Parts = { field, states: statesOf(controls.map(({ control }) => control)) };
    describe(
      dict,
      controls.map(({ control }) => control),
      this.#context,
    );
    const drawn = controls.flatMap(({ control, places }, i) =>
      places.map((place) => ({ control, place, i })),
    );
    const isBox = first.kind === 'checkbox' || first.kind === 'radio';
    // One dictionary is both field and widget where there is one widget.
    const [only] = drawn;
    if (only !== undefined && drawn.length === 1 && first.kind !== 'radio') {
      const { control, place, i } = only;
      await this.#makeWidget(field, { control, place, state: isBox ? dict.states.names[i]! : undefined });
      this.widgets.push({ control, ref: this.#place(field, first), dict: field, page: place.page });
      return;
    }
    const kids = this.#context.obj([]);
    field.set(name('Kids'), kids);
    const ref = this.#place(field, first);
    for (const { control, place, i } of drawn) {
      const widget = this.#context.obj({ Parent: ref, TU: text(control.label || titleOf(first)) });
      await this.#makeWidget(widget, { control, place, state: isBox ? dict.states.names[i]! : undefined });
      const widgetRef = this.#context.register(widget);
      kids.push(widgetRef);
      this.widgets.push({ control, ref: widgetRef, dict: widget, page: place.page });
    }
  }

  /** Gives a field its name, and its place in the hierarchy of names. */
  #place(field: PDFDict, { name: wanted }: FormControl): PDFRef {
    const parts = this.#names.unique(wanted);
    const ref = this.#context.register(field);
    let above: { readonly ref: PDFRef; readonly kids: PDFArray } | undefined;
    for (let i = 1; i < parts.length; i += 1) {
      const key = parts.slice(0, i).join('.');
      let group = this.#groups.get(key);
      if (group === undefined) {
        const kids = this.#context.obj([]);
        const dict = this.#context.obj({ T: text(parts[i - 1]!), Kids: kids });
        group = { ref: this.#context.register(dict), kids };
        this.#groups.set(key, group);
        this.#add(dict, group.ref, above);
      }
      above = group;
    }
    field.set(name('T'), text(parts.at(-1)!));
    this.#add(field, ref, above);
    return ref;
  }

  #add(
    dict: PDFDict,
    ref: PDFRef,
    above: { readonly ref: PDFRef; readonly kids: PDFArray } | undefined,
  ): void {
    if (above !== undefined) dict.set(name('Parent'), above.ref);
    (above?.kids ?? this.#top).push(ref);
  }

  async #makeWidget(
    dict: PDFDict,
    {
      control,
      place,
      state,
    }: { readonly control: FormControl; readonly place: Place; readonly state: string | undefined },
  ): Promise<void> {
    const { x, y, width, height, page } = place;
    const box = { width, height, scale: width / Math.max(1, control.width) };
    dict.set(name('Type'), name('Annot'));
    dict.set(name('Subtype'), name('Widget'));
    dict.set(name('Rect'), this.#context.obj([x, y, x + width, y + height]));
    dict.set(name('F'), PDFNumber.of(PRINTED));
    dict.set(name('P'), page.ref);
    if (state === undefined) {
      dict.set(name('DA'), text(defaultAppearance(control, box.scale, this.#font)));
      const normal = await this.#appearance(control, place, box);
      dict.set(name('AP'), this.#context.obj({ N: normal }));
      return;
    }
    const marks = { [OFF]: this.#stream('', box) };
    const normal = this.#context.obj(marks);
    normal.set(name(state), this.#stream(markAppearance(control, box), box));
    dict.set(name('AP'), this.#context.obj({ N: normal }));
    dict.set(name('AS'), name(control.checked ? state : OFF));
    dict.set(name('MK'), this.#context.obj({ CA: text(control.kind === 'radio' ? 'l' : '4') }));
  }

  async #appearance(control: FormControl, place: Place, box: Box): Promise<PDFRef> {
    const shown = shownTexts(control);
    if (!shown.every(isWinAnsi)) {
      const printed = await this.#values?.at(place);
      if (printed) return this.#stream(printed.operators, box, { XObject: { Values: printed.object } });
    }
    const operators =
      control.kind === 'list'
        ? listAppearance(control, box, this.#font)
        : textAppearance(control, shown[0] ?? '', box, this.#font);
    return this.#stream(operators, box, { Font: { [FONT_NAME]: this.#fontRef } });
  }

  #stream(
    operators: string,
    { width, height }: Box,
    resources: Readonly<Record<string, Readonly<Record<string, PDFRef>>>> = {},
  ): PDFRef {
    const entries = { Type: 'XObject', Subtype: 'Form', BBox: [0, 0, width, height], Resources: resources };
    return this.#context.register(this.#context.flateStream(operators, entries));
  }
}

/** A field, and the names of the states of its boxes. */
interface Parts {
  readonly field: PDFDict;
  readonly states: States;
}

interface States {
  readonly names: readonly string[];
  /** The values of the boxes, where their states are only numbered. */
  readonly values?: readonly string[];
}

/** Controls by the field that they are: radio buttons of a form and a name are one. */
function fieldsOf(controls: readonly PlacedControl[]): PlacedControl[][] {
  const groups = new Map<string, PlacedControl[]>();
  const fields: PlacedControl[][] = [];
  for (const placed of controls) {
    const { kind, form, name: called } = placed.control;
    const key = kind === 'radio' && called !== '' ? `${form} ${called}` : undefined;
    const known = key === undefined ? undefined : groups.get(key);
    if (known !== undefined) {
      known.push(placed);
      continue;
    }
    const field = [placed];
    fields.push(field);
    if (key !== undefined) groups.set(key, field);
  }
  return fields;
}

/** What readers say of a field. A group of radio buttons is called as its fieldset is, and each button by its own label. */
function titleOf({ kind, label, group, name: called }: FormControl): string {
  return (kind === 'radio' ? group || called : '') || label || called || 'field';
}

/** The states of the boxes of a field: their values, where these are names, and numbers otherwise. */
function statesOf(controls: readonly FormControl[]): States {
  const values = controls.map(({ value }) => value);
  const isPlain = values.every((value) => PLAIN.test(value) && value !== OFF);
  return isPlain && new Set(values).size === values.length
    ? { names: values }
    : { names: values.map((_, i) => String(i)), values };
}

/** Writes the type of a field, its flags and its value. */
function describe({ field, states }: Parts, controls: readonly FormControl[], context: PDFContext): void {
  const [first] = controls as readonly [FormControl];
  const flag = (holds: boolean, bit: number) => (holds ? bit : 0);
  const common =
    flag(
      controls.every(({ readOnly }) => readOnly),
      READ_ONLY,
    ) |
    flag(
      controls.some(({ required }) => required),
      REQUIRED,
    );
  const set = (type: string, flags: number, more: Readonly<Record<string, PDFObject | undefined>>) => {
    field.set(name('FT'), name(type));
    if ((common | flags) !== 0) field.set(name('Ff'), PDFNumber.of(common | flags));
    for (const [key, value] of Object.entries(more)) if (value !== undefined) field.set(name(key), value);
  };
  const { kind, value, maxLength, align, choices, multiple } = first;
  switch (kind) {
    case 'text':
    case 'textarea':
    case 'password': {
      const isBound = maxLength >= 0 && maxLength >= value.length;
      set('Tx', flag(kind === 'textarea', MULTILINE) | flag(kind === 'password', PASSWORD), {
        V: kind === 'password' ? undefined : text(value),
        DV: kind === 'password' ? undefined : text(value),
        MaxLen: isBound ? PDFNumber.of(maxLength) : undefined,
        Q: align === 'left' ? undefined : PDFNumber.of(QUADDING[align]),
      });
      return;
    }
    case 'checkbox':
    case 'radio': {
      const chosen = controls.findLastIndex(({ checked }) => checked);
      const state = name(chosen === -1 ? OFF : states.names[chosen]!);
      set('Btn', kind === 'radio' ? RADIO | NO_TOGGLE_TO_OFF : 0, {
        V: state,
        DV: state,
        Opt: states.values && context.obj(states.values.map(text)),
      });
      return;
    }
    case 'select':
    case 'list': {
      const chosen = choices.filter(({ selected }) => selected);
      const selected = kind === 'list' && multiple && chosen.length > 1;
      const only = chosen[0] === undefined ? undefined : text(chosen[0].value);
      const indices = choices.flatMap((choice, i) => (choice.selected ? [i] : []));
      const all = selected ? context.obj(chosen.map((choice) => text(choice.value))) : only;
      set('Ch', flag(kind === 'select', COMBO) | flag(kind === 'list' && multiple, MULTI_SELECT), {
        Opt: context.obj(choices.map((choice) => optionOf(choice, context))),
        V: all,
        DV: all,
        I: kind === 'list' && indices.length > 0 ? context.obj(indices) : undefined,
      });
    }
  }
}

function optionOf({ value, label }: Choice, context: PDFContext): PDFObject {
  return value === label ? text(value) : context.obj([text(value), text(label)]);
}
