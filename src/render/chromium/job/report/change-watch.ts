import type { RenderPage } from '../../page/render-page.ts';

/** Characters of the text that are compared. */
const MAX_COMPARED = 1_000_000;

/** Runs in a world of its own: what the document has now. */
const CONTENT = `(max) => {
  const text = (document.documentElement?.textContent ?? '').slice(0, max);
  let hash = text.length;
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) | 0;
  return document.getElementsByTagName('*').length + ' ' + text.length + ' ' + hash;
}`;

/** Stands for the elements of the document and for its text; undefined when its page does not say. */
export function documentContent(page: RenderPage): Promise<string | undefined> {
  return page.runIsolated<string>(CONTENT, MAX_COMPARED).catch(() => undefined);
}

/** Whether a document has other elements or another text than before. */
export function hasChanged(before: string | undefined, after: string | undefined): boolean {
  return before !== undefined && after !== undefined && before !== after;
}
