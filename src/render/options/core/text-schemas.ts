import { z } from 'zod';
import { holds } from './text-checks.ts';

/**
 * What a text on one line must not hold: control characters (C0, DEL, C1), line and paragraph separators, bidirectional
 * embeddings, overrides and isolates, which show a text in another order than it has, and lone surrogates, which the
 * database replaces.
 */
const NOT_ON_ONE_LINE = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
/** What a text of several lines must not hold: control characters besides tabs and line breaks, and lone surrogates. */
const NOT_IN_LINES = /(?![\t\n\r])[\p{Cc}\p{Cs}]/u;
const EVERY_NOT_ON_ONE_LINE = new RegExp(NOT_ON_ONE_LINE, 'gu');
/** An absolute address with its slashes and a host. */
const ABSOLUTE = /^[a-z]+:\/\/[^/\\?#]/i;

/** The least and the most characters of a text. */
interface Lengths {
  readonly min?: number;
  readonly max?: number;
}

/** Checks that a text is one line whose characters are shown in the order in which they are stored. */
export function onOneLine() {
  return without(NOT_ON_ONE_LINE, 'must be one line of text');
}

/** A text on one line. */
export function lineSchema(lengths: Lengths) {
  return textOf(lengths).check(onOneLine());
}

/** A name of 1 to `max` characters. Spaces at its ends are removed. */
export function displayNameSchema(max: number) {
  return z.string().check(onOneLine()).trim().min(1).max(max);
}

/** A text of several lines and at most `max` characters, which is kept and shown, and not interpreted. */
export function linesSchema(max: number) {
  return z.string().max(max).check(without(NOT_IN_LINES, 'must be text'));
}

/**
 * Text that a browser interprets: a document, a template, a style sheet or a script. Lone surrogates become U+FFFD, as
 * which browsers show them; all other characters are kept, also NUL.
 */
export function documentSchema(lengths: Lengths = {}) {
  return textOf(lengths).overwrite((text) => text.toWellFormed());
}

/**
 * The absolute address of something, as a URL parser writes it, so that the address that is stored and shown is the one
 * that is called. Its limit applies to what is sent and to what is stored.
 *
 * @param error the message for other schemes, and for what is no absolute address.
 */
export function addressSchema(max: number, schemes: readonly string[], error: string) {
  const isAddress = (text: string) =>
    ABSOLUTE.test(text) && schemes.includes(URL.parse(text)?.protocol ?? '');
  return z
    .string()
    .max(max)
    .check(onOneLine(), holds(isAddress, error))
    .overwrite((text) => URL.parse(text)?.href ?? text)
    .check(holds((text) => text.length <= max, `must have at most ${max} characters once it is encoded`));
}

/** A text in which characters that would not be seen, or would hide others, are written by their code points. */
export function printable(text: string): string {
  return text.replace(EVERY_NOT_ON_ONE_LINE, (character) => `<${codePoint(character)}>`);
}

function textOf({ min, max }: Lengths) {
  const text = min === undefined ? z.string() : z.string().min(min);
  return max === undefined ? text : text.max(max);
}

function without(characters: RegExp, error: string) {
  return holds(
    (text) => !characters.test(text),
    ({ input }) => `${error} without ${codePoint(characters.exec(String(input))?.[0] ?? '')}`,
  );
}

/** `U+202E`. */
function codePoint(character: string): string {
  return `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
}
