import { createRequire } from 'node:module';

/**
 * Part of a word with a level for each position between its letters. `.` stands for the beginning or the end of a word.
 * Where several patterns match a word, the highest level of a position decides: odd allows a break, even forbids it.
 */
export interface Pattern {
  readonly letters: string;
  /** One more than there are letters: before the first, after each. 0 to 9, or of an exception: 10 and 11. */
  readonly levels: readonly number[];
}

/** A node of the package's trie: deeper nodes by letter, or the index of levels, or both. */
type Node = { readonly [letter: string]: Node | number | readonly [Node, number] };
/** Levels, trie, and words with the positions of their hyphens. */
type PackedPatterns = readonly [
  levels: readonly (readonly number[])[],
  trie: Node,
  exceptions?: Readonly<Record<string, readonly number[]>>,
];

/** Levels of exceptions, above those of all patterns. */
const NO_BREAK = 10;
const BREAK = 11;

const require = createRequire(import.meta.url);

/** The version of the npm package that the patterns are from. */
export const PATTERNS_VERSION = (require('hyphen/package.json') as { version: string }).version;

/** The patterns and exceptions of one file of the npm package `hyphen`, which has them from TeX's hyph-utf8. */
export function readPatterns(name: string): Pattern[] {
  const [levels, trie, exceptions = {}] = require(`hyphen/patterns/${name}.js`) as PackedPatterns;
  const patterns: Pattern[] = [];
  const visit = (node: Node, before: string) => {
    for (const [letter, value] of Object.entries(node)) {
      const letters = before + letter;
      const [deeper, index] =
        typeof value === 'number' ? [undefined, value] : Array.isArray(value) ? value : [value as Node];
      if (index !== undefined) patterns.push({ letters, levels: aligned(letters, levels[index]!) });
      if (deeper !== undefined) visit(deeper, letters);
    }
  };
  visit(trie, '');
  for (const [word, breaks] of Object.entries(exceptions)) {
    const letters = `.${word}.`;
    const positions = new Array<number>(letters.length + 1).fill(NO_BREAK);
    // The package has counted the hyphens before each position as letters, and breaks these words wrongly itself.
    for (const [before, position] of breaks.entries()) positions[position - before + 1] = BREAK;
    patterns.push({ letters, levels: positions });
  }
  return patterns;
}

/** The package leaves out the position before the `.` that begins a word, and levels of 0 at the end. */
function aligned(letters: string, levels: readonly number[]): number[] {
  const first = letters.startsWith('.') ? 1 : 0;
  return Array.from({ length: letters.length + 1 }, (_, position) => levels[position - first] ?? 0);
}
