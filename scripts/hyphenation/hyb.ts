import { pack } from './pack.ts';
import type { Pattern } from './patterns.ts';
import { type Automaton, buildAutomaton } from './trie.ts';

/**
 * Chromium's format of hyphenation dictionaries, which is Android's: see `doc/hyb_file_format.md` and
 * `tools/mk_hyb_file.py` of https://android.googlesource.com/platform/frameworks/minikin. A header, an alphabet, the
 * packed automaton and the levels; all numbers are little-endian, of 32 bits.
 */
const MAGIC = 0x62ad7968;
const VERSION = 0;
const HEADER_BYTES = 24;

/** The code of the beginning and of the end of a word. Letters have codes from 1. */
const BOUNDARY = 0;
/** The table of an alphabet of so many letters, within so many code units, is an array by code unit. */
const MAX_DIRECT_CODE = 255;
const MAX_DIRECT_RANGE = 1024;
/** The other table has so many bits for a code. */
const CODE_BITS = 11;
/** An entry of the table of levels: six bits for their number, six for zeros that follow them, twenty for an offset. */
const MAX_LEVELS = 63;
const MAX_LEVEL_BYTES = 1 << 20;

/** Every code unit that is another one in lower case. */
const CAPITALS = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit)).filter(
  (letter) => letter !== letter.toLowerCase(),
);

/**
 * Compiles patterns into a dictionary.
 *
 * @param locale BCP 47: decides which letters are the same one in capitals.
 * @throws Error when the patterns exceed what the format has room for.
 */
export function compileHyb(patterns: readonly Pattern[], locale: string): Buffer {
  const letters = new Set(patterns.flatMap((pattern) => [...pattern.letters]));
  letters.delete('.');
  const codes = new Map([...letters].sort().map((letter, index) => [letter, index + 1]));
  const alphabet = alphabetTable(codes, locale);
  codes.set('.', BOUNDARY);
  const automaton = buildAutomaton(patterns);
  const levels = levelTable(automaton);
  const trie = trieTable(automaton, codes, levels.indexes);
  const offsets = [HEADER_BYTES, HEADER_BYTES + alphabet.length];
  const patternOffset = HEADER_BYTES + alphabet.length + trie.length;
  const header = words([MAGIC, VERSION, ...offsets, patternOffset, patternOffset + levels.table.length]);
  return Buffer.concat([header, alphabet, trie, levels.table]);
}

function alphabetTable(codes: ReadonlyMap<string, number>, locale: string): Buffer {
  const units = new Map([...codes].map(([letter, code]) => [letter.charCodeAt(0), code]));
  for (const capital of CAPITALS) {
    const code = codes.get(capital) ?? codes.get(capital.toLocaleLowerCase(locale));
    if (code !== undefined) units.set(capital.charCodeAt(0), code);
  }
  const sorted = [...units].sort(([a], [b]) => a - b);
  const min = sorted[0]![0];
  const end = sorted.at(-1)![0] + 1;
  if (end - min <= MAX_DIRECT_RANGE && codes.size <= MAX_DIRECT_CODE) {
    const table = Buffer.alloc(Math.ceil((end - min) / 4) * 4);
    for (const [unit, code] of sorted) table[unit - min] = code;
    return Buffer.concat([words([0, min, end]), table]);
  }
  if (codes.size >= 1 << CODE_BITS) throw new Error(`${codes.size} letters are too many.`);
  return words([1, sorted.length, ...sorted.map(([unit, code]) => (unit << CODE_BITS) | code)]);
}

/** The levels of all states, each once; the first entry has none. */
function levelTable({ states }: Automaton): { table: Buffer; indexes: ReadonlyMap<string, number> } {
  const entries = [0];
  const indexes = new Map<string, number>();
  const bytes: number[] = [];
  const offsets = new Map<string, number>();
  for (const { levels } of states) {
    if (levels === undefined || indexes.has(levels.join())) continue;
    indexes.set(levels.join(), entries.length);
    const stored = levels.slice(0, levels.findLastIndex((level) => level !== 0) + 1);
    const zeros = levels.length - stored.length;
    const offset = offsets.get(stored.join()) ?? bytes.length;
    if (offset === bytes.length) bytes.push(...stored);
    offsets.set(stored.join(), offset);
    if (stored.length > MAX_LEVELS || zeros > MAX_LEVELS || offset >= MAX_LEVEL_BYTES)
      throw new Error('The levels are too many.');
    entries.push((stored.length << 26) | (zeros << 20) | offset);
  }
  const head = words([VERSION, entries.length, 16 + 4 * entries.length, bytes.length, ...entries]);
  return { table: Buffer.concat([head, Buffer.from(bytes)]), indexes };
}

/** One array of states and edges. An entry has the edge's code, where it leads, and the levels of the state. */
function trieTable(
  automaton: Automaton,
  codes: ReadonlyMap<string, number>,
  levelIndexes: ReadonlyMap<string, number>,
): Buffer {
  const { positions, size } = pack(automaton, codes);
  const linkShift = bitLength(Math.max(...codes.values()));
  const levelShift = linkShift + bitLength(size - 1);
  if (levelShift + bitLength(levelIndexes.size) > 32)
    throw new Error('The patterns are too many for 32 bits.');
  const codeMask = (1 << linkShift) - 1;
  const linkMask = (1 << levelShift) - (1 << linkShift);
  const entries = new Uint32Array(size);
  for (const [state, { levels, edges }] of automaton.states.entries()) {
    const position = positions[state]!;
    if (levels !== undefined) entries[position]! |= levelIndexes.get(levels.join())! << levelShift;
    for (const [letter, next] of edges) {
      const code = codes.get(letter)!;
      entries[position + code]! |= (positions[next]! << linkShift) | code;
    }
  }
  return words([VERSION, codeMask, linkShift, linkMask, levelShift, size, ...entries]);
}

/** Bits that numbers up to this one need. */
function bitLength(number: number): number {
  return 32 - Math.clz32(number);
}

function words(numbers: readonly number[]): Buffer {
  const buffer = Buffer.alloc(numbers.length * 4);
  for (const [index, number] of numbers.entries()) buffer.writeUInt32LE(number >>> 0, index * 4);
  return buffer;
}
