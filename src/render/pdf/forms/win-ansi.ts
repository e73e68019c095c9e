/** The characters of the encoding of the font of fields (ISO 32000-1, annex D.2), by code from 32 on. */
const CHARACTERS = new TextDecoder('windows-1252').decode(Uint8Array.from({ length: 224 }, (_, i) => i + 32));
/** Line feeds are in a text without being drawn. */
const CODES = new Map([...CHARACTERS].map((character, i) => [character, i + 32]));
/** Codes that the encoding leaves open. */
for (const code of [0x7f, 0x81, 0x8d, 0x8f, 0x90, 0x9d]) CODES.delete(String.fromCharCode(code));

/** Each code with its character. */
export const WIN_ANSI: ReadonlyMap<string, number> = CODES;

/** Whether every character of a text has a code. */
export function isWinAnsi(text: string): boolean {
  for (const character of text) if (character !== '\n' && !CODES.has(character)) return false;
  return true;
}

/** The codes of a text; a question mark for a character that has none. */
export function winAnsiCodes(text: string): number[] {
  return Array.from(text, (character) => CODES.get(character) ?? 0x3f);
}
