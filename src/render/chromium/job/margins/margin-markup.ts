import { type DefaultTreeAdapterTypes, parseFragment, serialize } from 'parse5';
import { PlatenError } from '../../../../infra/errors/registry.ts';

export type MarginElement = DefaultTreeAdapterTypes.Element;
type ParentNode = DefaultTreeAdapterTypes.ParentNode;

/** Tags in a template that is changed: a tree of a hostile one takes quadratic time; a page's header has dozens. */
const MAX_TAGS = 300;

/** What may refer to something outside of the template, or to the address of the document; `&` may spell any of it. */
const NOTABLE = /url|src|href|import|poster|background|\\|&/i;

/** The template of a header or footer, as elements. */
export class MarginMarkup {
  readonly #root: DefaultTreeAdapterTypes.DocumentFragment;

  /** @throws PlatenError VALIDATION for more than 300 tags. @param name of its option. */
  constructor(name: string, text: string) {
    if (text.split('<', MAX_TAGS + 2).length > MAX_TAGS + 1)
      throw new PlatenError('VALIDATION', `options.${name}: must not hold more than ${MAX_TAGS} tags.`);
    this.#root = parseFragment(text);
  }

  /** Whether a template may have to be changed. Most are printed as they are. */
  static isNotable(text: string): boolean {
    return NOTABLE.test(text);
  }

  get text(): string {
    return serialize(this.#root);
  }

  /** Its elements, in their order. An element may be changed or removed when it is visited. */
  *elements(): Generator<MarginElement> {
    const open: ParentNode[] = [this.#root];
    for (let parent = open.pop(); parent !== undefined; parent = open.pop()) {
      if ('tagName' in parent) yield parent;
      open.push(...parent.childNodes.filter((node) => 'tagName' in node).toReversed());
    }
  }
}

export function attribute({ attrs }: MarginElement, name: string): string | undefined {
  return attrs.find((each) => each.name === name)?.value;
}

export function setAttribute(element: MarginElement, name: string, value: string | undefined): void {
  const { attrs } = element;
  const found = attrs.find((each) => each.name === name);
  if (value === undefined) element.attrs = attrs.filter((each) => each !== found);
  else if (found) found.value = value;
  else attrs.push({ name, value });
}

/** The text that an element holds directly: a style sheet's text. */
export function textOf({ childNodes }: MarginElement): string {
  return childNodes.map((node) => ('value' in node ? node.value : '')).join('');
}

export function setText(element: MarginElement, value: string): void {
  element.childNodes = [{ nodeName: '#text', value, parentNode: element }];
}

export function remove(element: MarginElement): void {
  const { parentNode } = element;
  if (parentNode) parentNode.childNodes = parentNode.childNodes.filter((node) => node !== element);
}
