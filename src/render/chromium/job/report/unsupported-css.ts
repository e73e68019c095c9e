/** CSS for paged media that the browser does not have: each is found in the text of a style sheet. */
const UNSUPPORTED = {
  'float: footnote': 'float\\s*:\\s*footnote',
  'position: running()': 'position\\s*:\\s*running\\s*\\(',
  'element()': 'content\\s*:[^;}]{0,200}\\belement\\s*\\(',
  'string-set': 'string-set\\s*:',
  'string()': 'content\\s*:[^;}]{0,200}\\bstring\\s*\\(',
  'target-counter()': 'target-counters?\\s*\\(',
  'target-text()': 'target-text\\s*\\(',
  'leader()': '\\bleader\\s*\\(',
  bleed: '[{;]\\s*bleed\\s*:',
  marks: '[{;]\\s*marks\\s*:\\s*(?:crop|cross)',
  'bookmark-level': 'bookmark-level\\s*:',
  '@page :nth()': '@page[^{]{0,100}:nth\\s*\\(',
  'break-before: recto': 'break-(?:before|after)\\s*:\\s*(?:recto|verso)',
} as const;

/** The source of a function: the names of what a style sheet's text has of it. */
export const UNSUPPORTED_IN = `(text) => {
  const rules = text.replace(/\\/\\*[^]*?(?:\\*\\/|$)/g, ' ');
  return Object.entries(${JSON.stringify(UNSUPPORTED)}).filter(([, pattern]) => new RegExp(pattern, 'i').test(rules)).map(([name]) => name);
}`;
