import { PlatenError } from '../errors/registry.ts';

/**
 * Names and values of one body. A parser makes an object of each, which takes many times the room and the time of the
 * same bytes of text: a million empty lists, of three megabytes, take as long to parse as a document of fifty.
 */
const MAX_PARTS = 1_000_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const STRUCTURE = new Uint8Array(256);
for (const character of '{[:,') STRUCTURE[character.charCodeAt(0)] = 1;

/**
 * Looks, before a body is parsed, whether that is bounded work. Whether it is JSON at all is not looked at.
 *
 * @throws PlatenError INPUT_TOO_LARGE for one of too many names and values.
 */
export function checkJsonSize(bytes: Uint8Array): void {
  // Each of them takes a byte at least.
  if (bytes.length <= MAX_PARTS) return;
  let parts = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    if (byte === QUOTE) inString = !inString;
    else if (!inString) parts += STRUCTURE[byte]!;
    else if (byte === BACKSLASH) at += 1;
  }
  if (parts > MAX_PARTS) {
    throw new PlatenError(
      'INPUT_TOO_LARGE',
      `The body has more than ${MAX_PARTS} names and values; what is text only may be larger.`,
    );
  }
}
