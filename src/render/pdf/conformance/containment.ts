import { KEYS, name } from '../objects.ts';
import type { StructureElement, StructureTree } from './structure.ts';

/** What elements consist of (ISO 32000-1, 14.8.4.3), and what is put around anything else. */
const PARTS: Readonly<Record<string, { readonly allowed: readonly string[]; readonly wrapper: string }>> = {
  L: { allowed: ['LI', 'L', 'Caption'], wrapper: 'LI' },
  Table: { allowed: ['TR', 'THead', 'TBody', 'TFoot', 'Caption'], wrapper: 'TR' },
  THead: { allowed: ['TR'], wrapper: 'TR' },
  TBody: { allowed: ['TR'], wrapper: 'TR' },
  TFoot: { allowed: ['TR'], wrapper: 'TR' },
  TR: { allowed: ['TH', 'TD'], wrapper: 'TD' },
};

/** What elements must be in, to be what they are. */
const WHOLES: Readonly<Record<string, readonly string[]>> = {
  LI: ['L'],
  TR: ['Table', 'THead', 'TBody', 'TFoot'],
  THead: ['Table'],
  TBody: ['Table'],
  TFoot: ['Table'],
  TH: ['TR'],
  TD: ['TR'],
};

/** Readers look through these, at what is in them. */
const TRANSPARENT = new Set(['NonStruct', 'Div']);

/**
 * Lets lists have nothing but items, and tables nothing but rows of cells. Roles of HTML can put anything into them, and some,
 * such as those of notes, take from items what they are.
 *
 * @returns whether anything was changed, which the tree shows only after another reading.
 */
export function completeParts(tree: StructureTree): boolean {
  let changed = false;
  const setType = ({ dict }: StructureElement, type: string) => {
    dict.set(KEYS.S, name(type));
    changed = true;
  };
  const isStray = (element: StructureElement) => {
    const wholes = WHOLES[element.type];
    return wholes !== undefined && !wholes.includes(wholeOf(element)?.type ?? '');
  };
  for (const element of tree.elements) {
    if (isStray(element)) {
      setType(element, 'Div');
      continue;
    }
    const parts = PARTS[element.type];
    if (parts === undefined) continue;
    const isPart = (other: StructureElement): boolean =>
      parts.allowed.includes(other.type) ||
      (TRANSPARENT.has(other.type) && !other.hasContent && other.children.every(isPart));
    // What is drawn in it directly is its background.
    for (const child of element.children.filter((other) => !isPart(other))) {
      if (TRANSPARENT.has(child.type)) setType(child, parts.wrapper);
      else {
        tree.wrapKids(element, parts.wrapper, (kid) => kid === child.ref);
        changed = true;
      }
    }
  }
  return changed;
}

/** The element that another is a part of. */
function wholeOf({ parent }: StructureElement): StructureElement | undefined {
  return parent !== undefined && TRANSPARENT.has(parent.type) ? wholeOf(parent) : parent;
}
