import type { RenderPage } from '../../contexts/page/render-page.ts';

/** Runs in a world of its own: the size of the document. */
const SIZE = `() => [document.getElementsByTagName('*').length, document.documentElement?.textContent.length ?? 0]`;

/** The number of a document's elements, and of the characters of its text. */
export type DocumentSize = readonly [elements: number, characters: number];

/** The size of the document now; undefined when its page does not say. */
export function documentSize(page: RenderPage): Promise<DocumentSize | undefined> {
  return page.runIsolated<DocumentSize>(SIZE).catch(() => undefined);
}

/** Whether a document has become larger or smaller in between. */
export function hasChanged(before: DocumentSize | undefined, after: DocumentSize | undefined): boolean {
  return before !== undefined && after !== undefined && before.some((count, i) => count !== after[i]);
}
