import type { Liquid } from 'liquidjs';
import { BrokenText, type FilterHandler, JsonText, printable } from './printed.ts';

/** Filters of LiquidJS that make a text of what they are given, and would make `[object Object]` of an object. */
const OF_TEXTS = (
  'append array_to_sentence_string base64_decode base64_encode capitalize cgi_escape downcase escape escape_once ' +
  'hmac_sha256 join lstrip newline_to_br normalize_whitespace number_of_words prepend remove remove_first remove_last ' +
  'replace replace_first replace_last rstrip sha256 slugify split squish strip strip_html strip_newlines truncate ' +
  'truncatewords upcase uri_escape url_decode url_encode xml_escape'
).split(' ');

const OF_JSON = ['json', 'jsonify', 'inspect'];

/** Changes filters of LiquidJS: objects are no texts, JSON fits into scripts, line breaks stay so when printed. */
export function registerTextFilters(liquid: Liquid): void {
  for (const name of OF_TEXTS) {
    const handler = handlerOf(liquid.filters, name);
    liquid.registerFilter(name, function (...given: [unknown, ...unknown[]]) {
      checkTexts(name, given);
      return handler.apply(this, given);
    });
  }
  const breakLines = handlerOf(liquid.filters, 'newline_to_br');
  liquid.registerFilter('newline_to_br', function (value: unknown) {
    const text = String(printable(value) ?? '');
    return new BrokenText(text, (lines) => breakLines.call(this, lines));
  });
  for (const name of OF_JSON) {
    const handler = handlerOf(liquid.filters, name);
    liquid.registerFilter(name, function (...given: [unknown, ...unknown[]]) {
      return new JsonText(handler.apply(this, given) ?? 'null');
    });
  }
}

/** A filter of LiquidJS. */
export function handlerOf(filters: Liquid['filters'], name: string): FilterHandler {
  const filter = filters[name];
  if (typeof filter !== 'function') throw new Error(`LiquidJS has no filter ${name}.`);
  return filter;
}

function checkTexts(name: string, given: readonly unknown[]): void {
  for (const value of given) {
    try {
      printable(value);
    } catch (error) {
      throw new Error(`the filter ${name} takes texts: ${(error as Error).message}`, { cause: error });
    }
  }
}
