import { dictAt, KEYS, name } from '../objects.ts';
import type { StructureTree } from './structure.ts';

/** The standard types of PDF 1.7 (ISO 32000-1, 14.8.4), which need no role. */
const STANDARD = new Set(
  (
    'Document Part Art Sect Div BlockQuote Caption TOC TOCI Index NonStruct Private P H H1 H2 H3 H4 H5 H6 L LI Lbl LBody ' +
    'Table TR TH TD THead TBody TFoot Span Quote Note Reference BibEntry Code Link Annot Ruby RB RT RP Warichu WT WP Figure ' +
    'Formula Form'
  ).split(' '),
);

/** The standard types that others of Chromium are most alike. */
const ROLES: Readonly<Record<string, string>> = { Strong: 'Span', Em: 'Span', Aside: 'Div' };
/** Of a type that is not known here: what is in it, without a meaning of its own. */
const NO_MEANING = 'NonStruct';

/** Maps every type that is not standard to one that is. */
export function mapRoles({ document, root, elements }: StructureTree): void {
  const own = new Set(elements.map(({ type }) => type).filter((type) => !STANDARD.has(type)));
  if (own.size === 0) return;
  const roles = dictAt(root, KEYS.RoleMap) ?? document.context.obj({});
  for (const type of own) if (!roles.has(name(type))) roles.set(name(type), name(ROLES[type] ?? NO_MEANING));
  root.set(KEYS.RoleMap, roles);
}

/** Puts what is in a list item, its mark excepted, into a body: an item has a label and a body, and nothing else. */
export function addListBodies(tree: StructureTree): void {
  const { context } = tree.document;
  const isLabelOrBody = (kid: Parameters<typeof context.lookup>[0]) => {
    const type = dictAt(context.lookup(kid))?.get(KEYS.S);
    return type === name('Lbl') || type === name('LBody');
  };
  for (const element of tree.elements)
    if (element.type === 'LI') tree.wrapKids(element, 'LBody', (kid) => !isLabelOrBody(kid));
}

/**
 * Makes a group of each figure that consists of others, such as a picture and a caption: what is a figure needs a text in
 * its place, and these have theirs.
 */
export function groupFigures({ elements }: StructureTree): void {
  for (const { type, dict, children } of elements)
    if (type === 'Figure' && !dict.has(KEYS.Alt) && children.length > 0) dict.set(KEYS.S, name('Div'));
}
