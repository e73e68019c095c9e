import { PlatenError } from '../errors/registry.ts';

/**
 * Lists, objects, values and names of one body. A parser makes something of each, which takes many times the room and the
 * time of the same bytes of text: a million empty lists, of three megabytes, take as long to parse as a document of fifty.
 */
const MAX_PARTS = 1_000_000;
/** A name stands with a value, has to be found among others, and is checked: it costs about as much as two lists. */
const NAME_PARTS = 2;
/** Of one object: finding a name among so many that are all different is what takes longest. */
const MAX_NAMES = 50_000;

/** What a JSON document may have, so that parsing it is bounded work. */
export interface JsonBounds {
  /** Lists, objects, values and names; a name counts twice. */
  readonly parts: number;
  /** Names of one object. */
  readonly names: number;
  /** Objects and lists in each other; as many as there are parts, unless said otherwise. */
  readonly depth?: number;
}

const [QUOTE, BACKSLASH, COLON, COMMA] = ['"', '\\', ':', ','].map((character) => character.charCodeAt(0));
const OPEN = new Set(['{', '['].map((character) => character.charCodeAt(0)));
const CLOSE = new Set(['}', ']'].map((character) => character.charCodeAt(0)));

/**
 * Looks, before a body is parsed, whether that is bounded work. Whether it is JSON at all is not looked at.
 *
 * @throws PlatenError INPUT_TOO_LARGE for one of too many names and values.
 */
export function checkJsonSize(bytes: Uint8Array): void {
  // No fewer bytes can hold as many names in one object.
  if (bytes.length <= MAX_NAMES * '"":1'.length) return;
  const excess = jsonExcess(bytes, { parts: MAX_PARTS, names: MAX_NAMES });
  if (excess === undefined) return;
  throw new PlatenError('INPUT_TOO_LARGE', `The body has ${excess}; what is text only may be larger.`);
}

/**
 * What a JSON document has too much of, in words such as `more than 1000 names and values`; undefined when it is within
 * its bounds. Whether it is JSON at all is not looked at.
 */
export function jsonExcess(bytes: Uint8Array, bounds: JsonBounds): string | undefined {
  const { depth = bounds.parts } = bounds;
  /** By depth: the names of the object that is open there. */
  const names: number[] = [0];
  let parts = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    if (byte === QUOTE) inString = !inString;
    else if (inString) at += byte === BACKSLASH ? 1 : 0;
    else if (byte === COMMA) parts += 1;
    else if (byte === COLON) {
      parts += NAME_PARTS;
      names[names.length - 1]! += 1;
      if (names.at(-1)! > bounds.names) return `one object of more than ${bounds.names} names`;
    } else if (OPEN.has(byte)) {
      parts += 1;
      names.push(0);
      if (names.length - 1 > depth) return `more than ${depth} levels`;
    } else if (CLOSE.has(byte) && names.length > 1) names.pop();
    if (parts > bounds.parts) return `more than ${bounds.parts} names and values`;
  }
  return undefined;
}
