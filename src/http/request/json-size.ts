import { PlatenError } from '../../infra/errors/registry.ts';

/**
 * Lists, objects, values and names of one body. A parser creates an object for each, which takes many times the memory
 * and time of the same number of bytes in a text: a million empty lists (3 MB) take as long to parse as a document of
 * 50 MB.
 */
const MAX_ELEMENTS = 1_000_000;
/** A name has a value, is looked up among others and is checked: it costs about as much as two lists. */
const NAME_ELEMENTS = 2;
/** Names of one object: looking a name up among many different ones takes longest. */
const MAX_NAMES = 50_000;

/** Bounds of a JSON document, so that parsing it is bounded work. */
export interface JsonBounds {
  /** Lists, objects, values and names; a name counts twice. */
  readonly elements: number;
  /** Names of one object. */
  readonly names: number;
  /** Nesting depth of objects and lists. Default: `elements`. */
  readonly depth?: number;
}

const [QUOTE, BACKSLASH, COLON, COMMA] = ['"', '\\', ':', ','].map((character) => character.charCodeAt(0));
const OPEN = new Set(['{', '['].map((character) => character.charCodeAt(0)));
const CLOSE = new Set(['}', ']'].map((character) => character.charCodeAt(0)));

/**
 * Checks, before a body is parsed, that parsing it is bounded work. Does not check that it is JSON.
 *
 * @throws PlatenError INPUT_TOO_LARGE for a body with too many names and values.
 */
export function checkJsonSize(bytes: Uint8Array): void {
  // A smaller body cannot exceed a bound.
  if (bytes.length <= MAX_NAMES * '"":1'.length) return;
  const limitExceeded = jsonLimitExceeded(bytes, { elements: MAX_ELEMENTS, names: MAX_NAMES });
  if (limitExceeded === undefined) return;
  throw new PlatenError('INPUT_TOO_LARGE', `The body has ${limitExceeded}; what is text only may be larger.`);
}

/** The bound that a document exceeds, as in `more than 1000 names and values`. Does not check that it is JSON. */
export function jsonLimitExceeded(bytes: Uint8Array, bounds: JsonBounds): string | undefined {
  const { depth = bounds.elements } = bounds;
  /** The number of names of the open object at each depth. */
  const names: number[] = [0];
  let elements = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    if (byte === QUOTE) inString = !inString;
    else if (inString) at += byte === BACKSLASH ? 1 : 0;
    else if (byte === COMMA) elements += 1;
    else if (byte === COLON) {
      elements += NAME_ELEMENTS;
      names[names.length - 1]! += 1;
      if (names.at(-1)! > bounds.names) return `one object of more than ${bounds.names} names`;
    } else if (OPEN.has(byte)) {
      elements += 1;
      names.push(0);
      if (names.length - 1 > depth) return `more than ${depth} levels`;
    } else if (CLOSE.has(byte) && names.length > 1) names.pop();
    if (elements > bounds.elements) return `more than ${bounds.elements} names and values`;
  }
  return undefined;
}
