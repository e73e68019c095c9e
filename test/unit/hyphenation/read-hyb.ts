/**
 * Reads a dictionary as Chromium does: third_party/blink/renderer/platform/text/hyphenation/hyphenator_aosp.cc, written
 * anew. It knows nothing of how the dictionary was made.
 */

/** Letters at each end of a word that stay together. */
const MIN_PREFIX = 2;
const MIN_SUFFIX = 3;

/** The positions at which a word may break, each as the number of letters before it. */
export function breaksOf(dictionary: Buffer, word: string): number[] {
  const at = (offset: number) => dictionary.readUInt32LE(offset);
  const [magic, , alphabet, trie, pattern, size] = [0, 4, 8, 12, 16, 20].map(at) as number[];
  if (magic !== 0x62ad7968 || size !== dictionary.length) throw new Error('This is no dictionary.');
  const codes = [0];
  for (let index = 0; index < word.length; index++) {
    const code = codeOf(dictionary, alphabet!, word.charCodeAt(index));
    if (code === 0) return [];
    codes.push(code);
  }
  codes.push(0);
  const [, codeMask, linkShift, linkMask, patternShift, entries] = [0, 4, 8, 12, 16, 20].map((offset) =>
    at(trie! + offset),
  ) as number[];
  const entry = (index: number) => {
    if (index >= entries!) throw new Error('The automaton leads out of its table.');
    return at(trie! + 24 + 4 * index);
  };
  const levels = new Array<number>(word.length).fill(0);
  for (let from = 0; from < codes.length - 1; from++) {
    let state = 0;
    for (let to = from; to < codes.length; to++) {
      const edge = entry(state + codes[to]!);
      if ((edge & codeMask!) !== codes[to]) break;
      state = (edge & linkMask!) >>> linkShift!;
      const index = entry(state) >>> patternShift!;
      if (index === 0) continue;
      const packed = at(pattern! + 16 + 4 * index);
      const length = packed >>> 26;
      const zeros = (packed >>> 20) & 0x3f;
      const begin = to + 1 - length - zeros;
      for (let k = 0; k < length; k++) {
        const position = begin + k;
        if (position < MIN_PREFIX || position > word.length - MIN_SUFFIX) continue;
        const level = dictionary[pattern! + at(pattern! + 8) + (packed & 0xfffff) + k]!;
        levels[position] = Math.max(levels[position]!, level);
      }
    }
  }
  return levels.flatMap((level, position) => (level % 2 === 1 ? [position] : []));
}

/** 0 for a code unit that the alphabet does not have. */
function codeOf(dictionary: Buffer, alphabet: number, unit: number): number {
  const at = (offset: number) => dictionary.readUInt32LE(alphabet + offset);
  if (at(0) === 0) {
    const [min, end] = [at(4), at(8)];
    return unit < min || unit >= end ? 0 : dictionary[alphabet + 12 + unit - min]!;
  }
  for (let index = 0; index < at(4); index++) {
    const entry = at(8 + 4 * index);
    if (entry >>> 11 === unit) return entry & 0x7ff;
  }
  return 0;
}
