/**
 * What a look at a document and at its printed pages may find: things that somebody who holds the PDF would call wrong.
 *
 * - `overflow`: content beyond the edge of the paper.
 * - `shrunk`: a document that the browser has printed smaller, because it is wider than the paper.
 * - `hidden`: content of an element that scrolls, which paper does not.
 * - `covered`: content behind an element that is on every page.
 * - `rasterised`: text that a filter turns into a picture.
 * - `blank`: pages without anything on them.
 * - `undecodable`: pictures that arrived and cannot be shown, and fonts that are none.
 * - `embedded`: other documents within the document, such as PDFs, which are not printed.
 * - `stillChanging`: a document that its scripts still change while it is printed.
 * - `redirect`: a source URL that leads to another page.
 * - `deadLink`: links to parts that are not there.
 * - `pageRules`: page sizes and margins of style sheets that lose against options, or win over them.
 * - `unsupportedCss`: style sheets that use what the browser does not print.
 * - `garbled`: text that was read in the wrong encoding.
 * - `fontSynthesis`: bold or italic text in a web font that has no such face.
 */
export const OBSERVATION_RULES = [
  'overflow',
  'shrunk',
  'hidden',
  'covered',
  'rasterised',
  'blank',
  'undecodable',
  'embedded',
  'stillChanging',
  'redirect',
  'deadLink',
  'pageRules',
  'unsupportedCss',
  'garbled',
  'fontSynthesis',
] as const;
export type ObservationRule = (typeof OBSERVATION_RULES)[number];

/** Each of them, as a property. */
export function perRule<Value>(value: Value): Record<ObservationRule, Value> {
  return Object.fromEntries(OBSERVATION_RULES.map((rule) => [rule, value])) as Record<ObservationRule, Value>;
}
