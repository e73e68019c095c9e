import { DOCUMENT_ORIGIN } from '../../page/document-origin.ts';
import { type Attributes, type MarkupVisitor, readMarkup } from './markup.ts';

/** Only this much of a text is read, in UTF-16 code units: reading it takes 13 ms. */
export const MAX_READ_FOR_ORIGINS = 512 * 1024;
/** Most origins that are kept. */
const MAX_ORIGINS = 1000;

/** An absolute address, or one without its scheme, whose host is complete: nothing can be filled in after it. */
const ADDRESS =
  /(?:(https?:)|(?<![:\w]))\/\/([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\.?|\[[0-9a-f:.]+\])(:\d{1,5})?(?=[/?#"'\s)\\<>&,;|]|$)/gi;

/** Attributes with one address, which is fetched; and attributes that may contain several among other text. */
const ONE = new Set(['src', 'poster', 'background', 'data', 'href', 'xlink:href']);
const SEVERAL = new Set(
  (
    'srcset imagesrcset srcdoc style fill stroke filter mask clip-path cursor marker marker-start marker-mid ' +
    'marker-end'
  ).split(' '),
);
/** Elements whose address is not fetched until a link is followed. */
const LINKS = new Set(['a', 'area']);

/**
 * The origins (scheme, host and port) that the markup of an HTML document names: in attributes that make the browser
 * fetch, in `data-` attributes that are an address, and in its style sheets. Its text, links, scripts and comments are
 * not read, since they may contain data that the caller did not write.
 */
export function originsInMarkup(html: string): ReadonlySet<string> {
  const found = new FoundOrigins();
  readMarkup(html.slice(0, MAX_READ_FOR_ORIGINS), found);
  return found.origins;
}

/** The origins that a template's source names anywhere, since its author wrote all of it. */
export function originsInTemplate(source: string): ReadonlySet<string> {
  const found = new FoundOrigins();
  found.style(source.slice(0, MAX_READ_FOR_ORIGINS));
  return found.origins;
}

class FoundOrigins implements MarkupVisitor {
  readonly origins = new Set<string>();

  tag(name: string, attributes: Attributes): void {
    if (LINKS.has(name)) return;
    for (const { name: attribute, value } of attributes) {
      if (ONE.has(attribute) || attribute.startsWith('data-')) this.#address(value);
      else if (SEVERAL.has(attribute)) this.style(value);
    }
  }

  style(text: string): void {
    for (const [, scheme = 'http:', host, port = ''] of text.matchAll(ADDRESS)) {
      this.#add(URL.parse(`${scheme}//${host}${port}`));
      if (this.origins.size === MAX_ORIGINS) return;
    }
  }

  script(): void {}
  hidden(): void {}

  #address(value: string): void {
    if (/^\s*(?:https?:)?\/\//i.test(value)) this.#add(URL.parse(value, DOCUMENT_ORIGIN));
  }

  #add(url: URL | null): void {
    if (url !== null && this.origins.size < MAX_ORIGINS) this.origins.add(url.origin);
  }
}
