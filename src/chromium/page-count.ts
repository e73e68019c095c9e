const PAGES_NODE = Buffer.from('/Type /Pages');
const COUNT = /^\s*\/Count (\d+)/;

/**
 * Pages of a PDF as Chromium writes it: its page tree stands uncompressed in the file, every node with the number of
 * pages below it, so that the largest is the root's.
 */
export function countPages(pdf: Buffer): number {
  let pages = 0;
  for (let at = pdf.indexOf(PAGES_NODE); at >= 0; at = pdf.indexOf(PAGES_NODE, at)) {
    at += PAGES_NODE.length;
    const match = COUNT.exec(pdf.toString('latin1', at, at + 32));
    if (match) pages = Math.max(pages, Number(match[1]));
  }
  return pages;
}
