import type { Automaton, State } from './trie.ts';

/** Where each state lies in one array, into which all of them are put over each other. */
export interface Packing {
  /** By state. The edge of a state at `s` by the letter with the code `c` lies at `s + c`. */
  readonly positions: Int32Array;
  /** Entries of the array, with room for every code after the last state. */
  readonly size: number;
}

/**
 * Finds a position for each state at which none of its edges meets an edge of another, and no two states are in one position.
 * First fit, as in Liang's thesis (https://tug.org/docs/liang/), from the states with most edges to those with none. A
 * search begins where the last one for as many edges has ended, so that a gap is tried once for each number of edges, and
 * not by every state.
 */
export function pack(automaton: Automaton, codes: ReadonlyMap<string, number>): Packing {
  const { states, root } = automaton;
  const largest = Math.max(...codes.values());
  const room = states.reduce((sum, { edges }) => sum + edges.length, states.length) * 2 + 2 * largest + 2;
  const hasState = new Uint8Array(room);
  const hasEdge = new Uint8Array(room);
  const positions = new Int32Array(states.length);
  let last = 0;
  const codesOf = ({ edges }: State) => edges.map(([letter]) => codes.get(letter)!);
  const put = (state: number, position: number) => {
    positions[state] = position;
    hasState[position] = 1;
    for (const code of codesOf(states[state]!)) hasEdge[position + code] = 1;
    last = Math.max(last, position);
  };
  // A reader begins at 0.
  put(root, 0);
  const begins: number[] = [];
  const order = [...states.keys()]
    .filter((state) => state !== root)
    .sort((a, b) => states[b]!.edges.length - states[a]!.edges.length);
  for (const state of order) {
    const wanted = codesOf(states[state]!);
    let position = begins[wanted.length] ?? 1;
    while (hasState[position] === 1 || wanted.some((code) => hasEdge[position + code] === 1)) position++;
    if (position + largest >= room) throw new Error('The states do not fit into the array.');
    begins[wanted.length] = position;
    put(state, position);
  }
  return { positions, size: last + largest + 1 };
}
