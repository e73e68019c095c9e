import type { MarginAssets } from './margin-assets.ts';
import {
  attribute,
  type MarginElement,
  type MarginMarkup,
  remove,
  setAttribute,
  setText,
  textOf,
} from './margin-markup.ts';

/** By element: the attribute with the address of a picture. */
const PICTURES: ReadonlyMap<string, string> = new Map([
  ['img', 'src'],
  ['input', 'src'],
  ['video', 'poster'],
  ['image', 'href'],
  ['feImage', 'href'],
]);
const BACKGROUND = 'background';

/** Replaces the addresses in a template by `data:`, and removes what is not received. Never rejects. */
export async function inlineAssets(
  markup: MarginMarkup,
  assets: MarginAssets,
  base: string | undefined,
): Promise<void> {
  await Promise.all([...markup.elements()].map((element) => inlineElement(element, assets, base)));
}

async function inlineElement(
  element: MarginElement,
  assets: MarginAssets,
  base: string | undefined,
): Promise<void> {
  const { tagName } = element;
  if (tagName === 'link') await inlineLink(element, assets, base);
  if (tagName === 'style') setText(element, await assets.sheet(textOf(element), base));
  const style = attribute(element, 'style');
  if (style !== undefined) setAttribute(element, 'style', await assets.sheet(style, base));
  if (attribute(element, 'srcset') !== undefined) chooseSource(element);
  for (const name of [PICTURES.get(tagName), BACKGROUND]) {
    const address = name && attribute(element, name)?.trim();
    if (!name || !address || /^(?:data:|#)/i.test(address)) continue;
    setAttribute(element, name, await assets.dataUrl(address, 'image', base));
  }
}

/** A style sheet. Chromium would fetch anything else that is linked, too, and end the page. */
async function inlineLink(
  element: MarginElement,
  assets: MarginAssets,
  base: string | undefined,
): Promise<void> {
  const relations = attribute(element, 'rel')?.toLowerCase().split(/\s+/) ?? [];
  const isSheet = relations.includes('stylesheet') && !relations.includes('alternate');
  const address = attribute(element, 'href')?.trim();
  const data = isSheet && address ? await assets.dataUrl(address, 'stylesheet', base) : undefined;
  if (data === undefined) remove(element);
  else setAttribute(element, 'href', data);
}

/** Of the pictures to choose from, the first one is taken, unless there is one by itself. */
function chooseSource(element: MarginElement): void {
  const [first] =
    attribute(element, 'srcset')
      ?.trim()
      .split(/[\s,]+/, 1) ?? [];
  setAttribute(element, 'srcset', undefined);
  if (element.tagName === 'img' && !attribute(element, 'src')) setAttribute(element, 'src', first);
}
