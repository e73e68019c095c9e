import { Tokenizer } from 'parse5';
import { type Attributes, readMarkup } from './markup.ts';

/** A doctype that begins later than this has no effect that matters here. Characters. */
const MAX_PROLOGUE = 64 * 1024;
/** Only this much of a document is searched for its own base; see `documentTraits`. Characters. */
const MAX_READ = 512 * 1024;
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * The document with `baseUrl` as its base. Its own `<base href>` comes first; a relative one is resolved against
 * `baseUrl`.
 *
 * The element is put in front of everything but the doctype. By the HTML standard it opens `html` and `head`, and the
 * document's own tags for these, which come later, only add their attributes to `html`: so no tag has to be found.
 */
export function withBase(html: string, baseUrl: string): string {
  const own = ownBase(html);
  if (own !== undefined && URL.parse(own) !== null) return html;
  const href = (own === undefined ? null : URL.parse(own, baseUrl)?.href) ?? baseUrl;
  const at = endOfDoctype(html);
  const escaped = href.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  return `${html.slice(0, at)}<base href="${escaped}">${html.slice(at)}`;
}

/** The first base that a document has itself; undefined for none, and for an address that browsers do not take. */
function ownBase(html: string): string | undefined {
  if (!/<base[\s/]/i.test(html)) return undefined;
  let found: string | undefined;
  readMarkup(html.slice(0, MAX_READ), {
    tag(name: string, attributes: Attributes) {
      if (name === 'base') found ??= attributes.find((attribute) => attribute.name === 'href')?.value.trim();
    },
    style() {},
    script() {},
    hidden() {},
  });
  return found !== undefined && /^(?:data|javascript):/i.test(found) ? undefined : found;
}

function endOfDoctype(html: string): number {
  const start = html.startsWith(BYTE_ORDER_MARK) ? 1 : 0;
  let end = 0;
  let begun = false;
  const begin = () => {
    begun = true;
  };
  const handler = {
    onDoctype: ({ location }: { location: { endOffset: number } | null }) => {
      if (!begun) end = location?.endOffset ?? 0;
    },
    onStartTag: begin,
    onEndTag: begin,
    onCharacter: begin,
    onNullCharacter: begin,
    onWhitespaceCharacter: () => undefined,
    onComment: () => undefined,
    onEof: () => undefined,
  };
  const tokenizer = new Tokenizer({ sourceCodeLocationInfo: true }, handler);
  tokenizer.write(html.slice(start, start + MAX_PROLOGUE), true);
  return start + end;
}
