import { printable } from '../../src/render/options/core/text-schemas.ts';

/** What no name and no other text on one line may hold. */
const NEVER_ON_ONE_LINE = [
  '\0',
  '\b',
  '\x1b',
  '\x7f',
  '\x85',
  '\r\n',
  '\t',
  '\u2028',
  '\u2029',
  '\u202e',
  '\u2066',
  '\ud800',
  '\udc00',
];
/** What a text of several lines may hold all the same. */
const IN_LINES = ['\r\n', '\t', '\u2028', '\u2029', '\u202e', '\u2066'];
/** What has a meaning for a database, for objects of JavaScript or for parsers, and is text like any other. */
const ODD = [
  '__proto__',
  '_bsontype',
  'constructor',
  'toString',
  '$where',
  'a.b',
  '{{ x }}',
  '\ufeff',
  '\uffff',
  '😀',
  'x'.repeat(3000),
];

export const HOSTILE_TEXTS = [...NEVER_ON_ONE_LINE, ...ODD];
export const REJECTED_ON_ONE_LINE: ReadonlySet<string> = new Set(NEVER_ON_ONE_LINE);
export const REJECTED_IN_LINES: ReadonlySet<string> = new Set(
  NEVER_ON_ONE_LINE.filter((text) => !IN_LINES.includes(text)),
);

/**
 * Whether an error of a request is about a field, or about the record that it is an entry of.
 *
 * @param path of the field, such as `.items[].options.margin.top`.
 * @param text what the field has, which is part of the position of an entry's name.
 */
export function isAbout(error: string, path: string, text: string): boolean {
  const [about = ''] = error.replace(/ \(".*"\)/, '').split(': ');
  const [record, entry] = path.replace(/^\./, '').replaceAll('[]', '[0]').split('{');
  if (about === record) return true;
  const position = `${record}.${entry === 'name}' ? printable(text) : 'name'}`;
  return (
    entry !== undefined &&
    (about.endsWith('…') ? position.startsWith(about.slice(0, -1)) : about === position)
  );
}
