import { randomUUID } from 'node:crypto';

/** Integers of fewer digits are below 2^53, so a number holds them exactly. */
const MIN_DIGITS = 16;
const LONG = new RegExp(`\\d{${MIN_DIGITS}}`);
/** The beginning of a text that stands for an integer until the document is parsed; no caller can know it. */
const MARK = `${randomUUID()}:`;

const [QUOTE, BACKSLASH, MINUS, PLUS, DOT, ZERO, NINE] = [...'"\\-+.09'].map((sign) => sign.charCodeAt(0));

/**
 * Parses JSON, and keeps the digits of integers beyond 2^53. It takes about twice as long as JSON.parse when there are
 * such integers, and no longer otherwise. (A reviver, which sees the source text too, takes six times as long.)
 *
 * @param kept makes the value of such an integer, from its digits.
 * @param field the name of the fields below which they are kept; elsewhere they become numbers. Default: everywhere.
 * @throws SyntaxError as JSON.parse does.
 */
export function parseKeepingIntegers(
  text: string,
  kept: (digits: string) => unknown,
  field?: string,
): unknown {
  if (!LONG.test(text)) return JSON.parse(text);
  const marked = withMarkedIntegers(text);
  if (marked === undefined) return JSON.parse(text);
  const holder = { '': parseMarked(marked, text) };
  restoreIntegers(holder, kept, field);
  return holder[''];
}

/** A number that JSON.stringify writes with all its digits. */
export function rawNumber(digits: string): unknown {
  return (JSON as RawJson).rawJSON(digits);
}

/** Whether a value is one that `rawNumber` made. Its digits are `rawJSON`. */
export function isRawNumber(value: unknown): value is { readonly rawJSON: string } {
  return (JSON as RawJson).isRawJSON(value);
}

/** Of ECMAScript's proposal JSON.parse source text access, which Node.js has. */
interface RawJson extends JSON {
  rawJSON(text: string): unknown;
  isRawJSON(value: unknown): boolean;
}

/** @throws SyntaxError for the text as it came: the marked one says nothing to its author. */
function parseMarked(marked: string, text: string): unknown {
  try {
    return JSON.parse(marked);
  } catch {
    return JSON.parse(text);
  }
}

/** The text with each integer beyond 2^53 as a marked string; undefined when there is none. */
function withMarkedIntegers(text: string): string | undefined {
  const pieces: string[] = [];
  let taken = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === MINUS || isDigit(code)) {
      const end = endOfNumber(text, at);
      const digits = text.slice(at, end);
      if (isLongInteger(digits)) {
        pieces.push(text.slice(taken, at), `"${MARK}${digits}"`);
        taken = end;
      }
      at = end;
    } else at += 1;
  }
  return pieces.length === 0 ? undefined : pieces.join('') + text.slice(taken);
}

function isLongInteger(number: string): boolean {
  return number.length >= MIN_DIGITS && /^-?[1-9]\d+$/.test(number) && !Number.isSafeInteger(Number(number));
}

/** The index after the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
  return text.length;
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    // 0x20 makes a letter small.
    const isPart = isDigit(code) || code === DOT || code === PLUS || code === MINUS || (code | 0x20) === 0x65;
    if (!isPart) break;
  }
  return end;
}

function isDigit(code: number): boolean {
  return code >= ZERO! && code <= NINE!;
}

/** Without recursion, because the caller chooses the nesting. */
function restoreIntegers(root: object, kept: (digits: string) => unknown, field: string | undefined): void {
  const open: [holder: object, keeps: boolean][] = [[root, field === undefined]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [holder, keeps] = next;
    for (const [name, value] of Object.entries(holder)) {
      const keepsHere = keeps || name === field;
      if (typeof value === 'object' && value !== null) open.push([value, keepsHere]);
      if (typeof value !== 'string' || !value.startsWith(MARK)) continue;
      const digits = value.slice(MARK.length);
      // Not by assignment: the name may be `__proto__`.
      Object.defineProperty(holder, name, {
        value: keepsHere ? kept(digits) : Number(digits),
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
  }
}
