/** White space, comments, and what separates tokens (ISO 32000-1, 7.2). */
const TOKEN =
  /[\0\t\n\f\r ]+|%[^\r\n]*|\/[^\0\t\n\f\r ()<>[\]{}/%]*|[^\0\t\n\f\r ()<>[\]{}/%]+|<<|>>|<[^>]*>|[[\]{}>)]|\(/y;
/** Where the data of an inline picture end. */
const END_OF_PICTURE = /[\0\t\n\f\r ]EI(?=[\0\t\n\f\r ]|$)/g;

/** An operator of a content stream, with the last name before it, and all names of an inline picture. */
export interface Operation {
  readonly operator: string;
  /** Without its slash; empty for none. */
  readonly name: string;
  readonly names: readonly string[];
}

/** The operations of a content stream. Takes linear time, and skips what is none. @param text a character for each byte. */
export function* operationsOf(text: string): Generator<Operation> {
  let names: string[] = [];
  let at = 0;
  while (at < text.length) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0];
    if (token === undefined) return;
    at = token === '(' ? endOfString(text, at) : at + token.length;
    if (token.startsWith('/')) names.push(decodedName(token.slice(1)));
    else if (/^[a-zA-Z'"]/.test(token) && !CONSTANTS.has(token)) {
      yield { operator: token, name: names.at(-1) ?? '', names };
      names = [];
      if (token === 'ID') {
        END_OF_PICTURE.lastIndex = at;
        if (END_OF_PICTURE.exec(text) === null) return;
        at = END_OF_PICTURE.lastIndex;
      }
    }
  }
}

const CONSTANTS = new Set(['true', 'false', 'null']);

function endOfString(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const character = text[at];
    if (character === '\\') at += 1;
    else if (character === '(') depth += 1;
    else if (character === ')') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return text.length;
}

function decodedName(name: string): string {
  return name.replace(/#([0-9a-fA-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
