/*
 * What the responses of S3 hold: elements without attributes that matter, and texts. A parser of all of XML would bring what
 * is not wanted here: entities of their own, documents of any depth.
 */

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The contents of the elements of a name, none of which has another of its name in it. */
export function elementsOf(xml: string, name: string): string[] {
  const found: string[] = [];
  const [open, close] = [`<${name}>`, `</${name}>`];
  for (let at = xml.indexOf(open); at !== -1; at = xml.indexOf(open, at)) {
    const end = xml.indexOf(close, at);
    if (end === -1) break;
    found.push(xml.slice(at + open.length, end));
    at = end;
  }
  return found;
}

/** The text of the first element of a name; undefined without one. */
export function textOf(xml: string, name: string): string | undefined {
  const [first] = elementsOf(xml, name);
  return first?.replace(/&(?:#(\d+)|#x([\da-fA-F]+)|(\w+));/g, (whole, decimal, hex, word) => {
    if (word !== undefined) return ENTITIES[word] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** A text as it stands in XML. */
export function escapeText(text: string): string {
  return text.replace(/[&<>]/g, (c) => `&${c === '&' ? 'amp' : c === '<' ? 'lt' : 'gt'};`);
}
