import type { Findings, RelativeLinks } from '../../../report/findings.ts';
import { DOCUMENT_ORIGIN } from '../../page/document-origin.ts';
import type { RenderPage } from '../../page/render-page.ts';
import type { JobDocument } from '../document/job-document.ts';

const MAX_NAMED = 20;
/** Characters kept of the address of each. */
const MAX_ADDRESS = 300;

/**
 * Runs in the document. An opaque base makes relative addresses invalid, so that their links are printed without a
 * target, while attributes, and what style sheets print of them, stay as they are. Links within the document are
 * compared with the base by Chromium, and still lead where they did.
 */
const UNLINK = `(origin, maxNamed, maxLength) => {
  const named = [];
  let count = 0;
  const documents = [document];
  for (const each of documents) {
    for (const frame of each.querySelectorAll('iframe, frame, object')) {
      try { if (frame.contentDocument) documents.push(frame.contentDocument); } catch { /* Of another origin. */ }
    }
    const isOwn = each.baseURI === origin || each.baseURI.startsWith(origin + '/');
    if (!isOwn && each.baseURI !== 'about:blank') continue;
    const xlink = 'http://www.w3.org/1999/xlink';
    for (const link of each.querySelectorAll('a, area')) {
      const address = (link.getAttribute('href') ?? link.getAttributeNS(xlink, 'href') ?? '').trim();
      if (address.startsWith('//')) link.setAttribute('href', 'http:' + address);
      else if (address !== '' && !/^([a-z][a-z\\d+.-]*:|#)/i.test(address)) {
        count += 1;
        if (named.length < maxNamed) named.push(address.slice(0, maxLength));
      }
    }
    if (!isOwn || !each.documentElement) continue;
    const base = each.createElement('base');
    base.href = 'about:blank';
    (each.head ?? each.documentElement).prepend(base);
  }
  return { named, count };
}`;

/**
 * Leaves the relative links of a document without an address of its own without a target: they would lead to
 * DOCUMENT_ORIGIN, which nobody has. A document without script whose markup has none is left alone.
 *
 * @param findings receives the links, unless there can be none.
 */
export async function unlinkRelative(
  page: RenderPage,
  { kind, traits, still }: JobDocument,
  findings: Findings | undefined,
): Promise<void> {
  if (kind === 'url' || (still && traits?.relativeLinks === false)) return;
  const unlinked = page.runIsolated<RelativeLinks>(UNLINK, DOCUMENT_ORIGIN, MAX_NAMED, MAX_ADDRESS);
  // If the document replaces itself now, the next one is printed with its links.
  const links = await unlinked.catch(() => undefined);
  if (findings && links) findings.relativeLinks = links;
}
