/** What an address in a style sheet is fetched as. */
export type CssAddressKind = 'stylesheet' | 'font' | 'image';

/** Replaces an address. @returns the address in its place; undefined removes it. */
export type ReplaceAddress = (address: string, kind: CssAddressKind) => Promise<string | undefined>;

const NOTHING = 'data:,';

const STRING = `"(?:[^"\\\\\\n]|\\\\[^])*"|'(?:[^'\\\\\\n]|\\\\[^])*'`;
/** An address without quotes (CSS Syntax 3, section 4.3.6), escapes included. */
const BARE = `(?:[^"'()\\s\\\\]|\\\\[^])*`;
const ESCAPE = /\\(?:([0-9a-f]{1,6})(?:\r\n|\s)?|([^0-9a-f]))/gi;
const KEPT = new RegExp(
  `(${STRING}|url\\(\\s*${BARE}\\s*\\))|/\\*[^]*?(?:\\*/|$)|\\\\(?:[0-9a-f]{1,6}(?:\\r\\n|\\s)?|[^])`,
  'gi',
);
const PART = new RegExp(
  `@import\\s*(?:url\\(\\s*(?<sheetUrl>${STRING}|${BARE})\\s*\\)|(?<sheet>${STRING}))|url\\(\\s*(?<url>${STRING}|${BARE})\\s*\\)` +
    `|(?<rest>@import|url\\()|(?<state>@font-face|[{}])|@namespace[^;{}]*|${STRING}`,
  'gi',
);

/**
 * A style sheet with every address replaced that a browser may fetch: in `url()` and `@import`, and however they are
 * spelled, since escapes can spell any name. Takes time linear in its length.
 */
export async function replaceAddresses(css: string, replace: ReplaceAddress): Promise<string> {
  const plain = withPlainNames(css);
  const pieces: (string | Promise<string>)[] = [];
  let at = 0;
  let font = false;
  let inFont = false;
  for (const match of plain.matchAll(PART)) {
    const { sheetUrl, sheet, url, rest, state } = match.groups!;
    pieces.push(plain.slice(at, match.index));
    at = match.index + match[0].length;
    const imported = sheetUrl ?? sheet;
    if (imported !== undefined) pieces.push(replaced(imported, 'stylesheet', replace, '@import '));
    else if (url !== undefined) pieces.push(replaced(url, inFont ? 'font' : 'image', replace));
    // Of an address that cannot be read.
    else if (rest !== undefined) pieces.push(rest.endsWith('(') ? 'unread(' : '@unread');
    else pieces.push(match[0]);
    if (state === '{') [inFont, font] = [font, false];
    else if (state === '}') inFont = false;
    else if (state !== undefined) font = true;
  }
  pieces.push(plain.slice(at));
  return (await Promise.all(pieces)).join('');
}

async function replaced(
  token: string,
  kind: CssAddressKind,
  replace: ReplaceAddress,
  before = '',
): Promise<string> {
  const address = (/^["']/.test(token) ? token.slice(1, -1) : token).replace(ESCAPE, unescaped).trim();
  const isOwn = address.startsWith('#') || (/^data:/i.test(address) && kind === 'image');
  const result = isOwn ? address : ((await replace(address, kind)) ?? NOTHING);
  return `${before}url("${quotable(result)}")`;
}

/** An address as it may stand in quotes. */
export function quotable(address: string): string {
  return address.replaceAll(/["\\\n]/g, encodeURIComponent);
}

/** The style sheet without comments, and with letters where escapes spell letters of names. */
function withPlainNames(css: string): string {
  return css.replaceAll(/\r\n?|\f/g, '\n').replaceAll(KEPT, (part: string, kept: string | undefined) => {
    if (kept !== undefined) return kept;
    if (part.startsWith('/*')) return ' ';
    const character = part.replace(ESCAPE, unescaped);
    return /^[a-z]$/i.test(character) ? character : part;
  });
}

function unescaped(_escape: string, code: string | undefined, character: string | undefined): string {
  if (code === undefined) return character === '\n' ? '' : (character ?? '');
  const point = Number.parseInt(code, 16);
  return point === 0 || point > 0x10ffff ? '\ufffd' : String.fromCodePoint(point);
}
