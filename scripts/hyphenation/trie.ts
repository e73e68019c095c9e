import type { Pattern } from './patterns.ts';

/** A state of the automaton: the levels of what has been read up to here, and where each letter leads. */
export interface State {
  /** Levels of the last positions that were read, without the zeros before them; undefined where no pattern ends. */
  readonly levels: readonly number[] | undefined;
  /** By letter, sorted. The index of another state. */
  readonly edges: readonly (readonly [letter: string, state: number])[];
}

export interface Automaton {
  readonly states: readonly State[];
  /** The index of the state that reading begins in. */
  readonly root: number;
}

interface Node {
  readonly next: Map<string, Node>;
  levels?: readonly number[];
}

/** Letters at each end of a word that Chromium never parts from it: whatever a pattern says of them is of no use. */
const KEPT_TOGETHER = 2;

/** The trie of the patterns, in which equal subtrees are one. */
export function buildAutomaton(patterns: readonly Pattern[]): Automaton {
  const root: Node = { next: new Map() };
  for (const { letters, levels } of patterns) {
    let node = root;
    for (const letter of letters) {
      let next = node.next.get(letter);
      if (next === undefined) {
        next = { next: new Map() };
        node.next.set(letter, next);
      }
      node = next;
    }
    node.levels = trimmed(letters, levels);
  }
  const states: State[] = [];
  const known = new Map<string, number>();
  const merge = (node: Node): number => {
    const edges = [...node.next]
      .map(([letter, next]) => [letter, merge(next)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const key = `${node.levels?.join() ?? ''};${edges.join(';')}`;
    const same = known.get(key);
    if (same !== undefined) return same;
    known.set(key, states.length);
    return states.push({ levels: node.levels, edges }) - 1;
  };
  return { root: merge(root), states };
}

/** Levels counted from the last position, since a reader knows where a pattern ends. */
function trimmed(letters: string, levels: readonly number[]): readonly number[] | undefined {
  const first = letters.startsWith('.') ? KEPT_TOGETHER + 1 : 0;
  const end = letters.endsWith('.') ? levels.length - KEPT_TOGETHER - 1 : levels.length;
  const useful = levels.map((level, position) => (position >= first && position < end ? level : 0));
  const from = useful.findIndex((level) => level !== 0);
  return from === -1 ? undefined : useful.slice(from);
}
