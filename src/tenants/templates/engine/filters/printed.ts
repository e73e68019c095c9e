import { type FilterImplOptions, toValue } from 'liquidjs';
import { Opaque } from '../opaque.ts';
import { shownObject } from './arguments.ts';

/** A filter as LiquidJS calls it. */
export type FilterHandler = Extract<FilterImplOptions, (...args: never[]) => unknown>;

const SCRIPT_ESCAPES: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/** JSON. In a script it is printed as it is, elsewhere its characters are escaped as those of any text. */
export class JsonText extends Opaque {
  readonly #json: string;

  constructor(json: string) {
    super();
    this.#json = json;
  }

  /** The JSON as a text of the document shows it. */
  get plain(): string {
    return this.#json;
  }

  /** The same JSON without a character that could end a script. */
  override valueOf(): string {
    return this.#json.replace(/[<>&\u2028\u2029]/g, (character) => SCRIPT_ESCAPES[character] ?? character);
  }
}

/** A text whose lines end with `<br />`. Printed, its own characters are escaped, and the `<br />` are not. */
export class BrokenText extends Opaque {
  readonly #text: string;
  readonly #breakLines: (text: string) => string;

  constructor(text: string, breakLines: (text: string) => string) {
    super();
    this.#text = text;
    this.#breakLines = breakLines;
  }

  escapedBy(escaped: (text: string) => string): string {
    return this.#breakLines(escaped(this.#text));
  }

  override valueOf(): string {
    return this.#breakLines(this.#text);
  }
}

/** What is printed of a value after its last filter. @param escapeText LiquidJS's own `escape`. */
export function escapesBy(escapeText: FilterHandler): { inText: FilterHandler; inScript: FilterHandler } {
  const escapeIn = (inScript: boolean): FilterHandler =>
    function (value: unknown) {
      if (typeof value === 'string') return escapeText.call(this, value);
      const escaped = (text: unknown): string => escapeText.call(this, text);
      if (value instanceof BrokenText) return value.escapedBy(escaped);
      if (value instanceof JsonText) return inScript ? value.valueOf() : escaped(value.plain);
      return escaped(printable(value));
    };
  return { inText: escapeIn(false), inScript: escapeIn(true) };
}

/** @throws Error for an object, or a list with one: no text says what they hold. */
export function printable(value: unknown): unknown {
  const given = toValue(value);
  if (Array.isArray(given)) given.forEach(printable);
  else if (typeof given === 'object' && given !== null)
    throw new Error(
      `${shownObject(given)} cannot be printed as a text: name one of its fields, or use the filter json`,
    );
  return given;
}
