/** What a look at a document and at its printed pages may find: things that somebody who holds the PDF would call wrong. */
export const FOUND_BY_RULE = {
  overflow: 'Content beyond the edge of the paper.',
  shrunk: 'A document that the browser has printed smaller, because it is wider than the paper.',
  hidden: 'Content of an element that scrolls, which paper does not.',
  covered: 'Content behind an element that is on every page.',
  rasterised: 'Text that a filter turns into a picture.',
  blank: 'Pages without anything on them.',
  undecodable: 'Pictures that arrived and cannot be shown, and fonts that are none.',
  embedded: 'Other documents within the document, such as PDFs, which are not printed.',
  stillChanging: 'A document that its scripts still change while it is printed.',
  redirect: 'A source URL that leads to another page.',
  deadLink: 'Links to parts that are not there.',
  pageRules: 'Page sizes and margins of style sheets that lose against options, or win over them.',
  unsupportedCss: 'Style sheets that use what the browser does not print.',
  garbled: 'Text that was read in the wrong encoding.',
  fontSynthesis: 'Bold or italic text in a web font that has no such face.',
} as const;
export type ObservationRule = keyof typeof FOUND_BY_RULE;
export const OBSERVATION_RULES = Object.keys(FOUND_BY_RULE) as ObservationRule[];

/** Each of them, as a property. */
export function perRule<Value>(value: (rule: ObservationRule) => Value): Record<ObservationRule, Value> {
  return Object.fromEntries(OBSERVATION_RULES.map((rule) => [rule, value(rule)])) as Record<
    ObservationRule,
    Value
  >;
}
