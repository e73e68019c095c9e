import { DOCUMENT_ORIGIN } from '../../page/document-origin.ts';

/** Occurrences in the source at which an address is looked at. */
const MAX_MATCHES = 100;
/** Characters before a slash that are part of the same address. */
const PART_OF_ADDRESS = /[\w.:~/-]/;

/**
 * The name by which a document given as HTML asked for something at its own made-up origin: `style.css`, or `/style.css`
 * where the source has it with the slash.
 *
 * @param url begins with DOCUMENT_ORIGIN.
 * @param shown the same address as it may be shown, without secrets.
 */
export function relativeName(url: string, shown: string, source: string): string {
  const rooted = url.slice(DOCUMENT_ORIGIN.length);
  const name = shown.slice(DOCUMENT_ORIGIN.length);
  let at = -1;
  for (let matches = 0; matches < MAX_MATCHES; matches += 1) {
    at = source.indexOf(rooted, at + 1);
    if (at === -1) break;
    if (!PART_OF_ADDRESS.test(source[at - 1] ?? ' ')) return name;
  }
  return name.slice(1);
}
