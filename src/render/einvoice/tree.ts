import { XmlElement } from 'libxml2-wasm';

/** An element of an invoice, with the texts and elements in it. */
export interface Node {
  readonly name: string;
  readonly text: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Node[];
}

/** The element with all that is in it. Documents are no deeper than the parser lets them be. */
export function treeOf(element: XmlElement): Node {
  const children: Node[] = [];
  for (let child = element.firstChild; child !== null; child = child.next)
    if (child instanceof XmlElement) children.push(treeOf(child));
  const { attrs } = element;
  return {
    name: element.name,
    text: children.length === 0 ? element.content.trim() : '',
    attributes: attrs.length === 0 ? {} : Object.fromEntries(attrs.map(({ name, value }) => [name, value])),
    children,
  };
}

/** Every element at a path of names, such as `SellerTradeParty/Name`. */
export function all(node: Node | undefined, path: string): readonly Node[] {
  let found: readonly Node[] = node === undefined ? [] : [node];
  for (const name of path.split('/'))
    found = found.flatMap(({ children }) => children.filter((c) => c.name === name));
  return found;
}

/** The first element at a path. */
export function one(node: Node | undefined, path: string): Node | undefined {
  return all(node, path)[0];
}

/** The text of the first element at a path; undefined where it is empty. */
export function textAt(node: Node | undefined, path: string): string | undefined {
  return one(node, path)?.text || undefined;
}
