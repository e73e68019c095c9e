import { Redactor } from '../../render/report/redact.ts';
import { isRawNumber } from '../templates/long-integers.ts';

export const MASK = '***';

/** What an abridged value takes at most as JSON, in characters, and how its parts are cut. */
const MAX_TOTAL = 4096;
const MAX_TEXT = 200;
const MAX_ITEMS = 10;
const MAX_FIELDS = 60;
const MAX_DEPTH = 10;
/** Of headers: of all together, and of one value; in characters. */
const MAX_HEADERS = 1024;
const MAX_HEADER_VALUE = 256;
/** Names of headers and fields whose values let others in. */
const SECRET_NAME =
  /cookie|authori[sz]ation|token|secret|password|passphrase|passwd|credential|signature|session|nonce|key$/i;
/** Of proxies on the way: they have the caller's address, which not every plan shows. */
const OF_PROXIES = /^(?:x-forwarded|forwarded|x-real-ip|cf-connecting-ip|true-client-ip|via)/i;
/** Fields all of whose texts are secrets: the headers and cookies that a document is fetched with. */
const SECRET_FIELDS: ReadonlySet<string> = new Set(['assetHeaders', 'cookies']);
/** The addresses by which anybody downloads a file. */
const FILE_ADDRESS = /(\/v1\/files\/)[\w.-]+/g;
const BASE64 = /^[\w+/=-]+$/;
const REDACTOR = new Redactor([]);

/** Names and values of headers, for their account to see. */
export type MaskedHeaders = readonly { readonly name: string; readonly value: string }[];

/** The first headers, without secrets: 1 KiB of them. */
export function maskedHeaders(headers: Readonly<Record<string, unknown>>): MaskedHeaders {
  const kept = [];
  let left = MAX_HEADERS;
  for (const [name, given] of Object.entries(headers)) {
    if (OF_PROXIES.test(name)) continue;
    const value = SECRET_NAME.test(name)
      ? MASK
      : shortText([given ?? ''].flat().join(', '), MAX_HEADER_VALUE);
    left -= name.length + value.length;
    if (left < 0) break;
    kept.push({ name, value });
  }
  return kept;
}

/** An address without the secrets in it. */
export function maskedAddress(address: string): string {
  return REDACTOR.address(`http://host${address}`)
    .replace('http://host', '')
    .replace(FILE_ADDRESS, `$1${MASK}`);
}

/**
 * A body as JSON text of at most 4 KiB or so, without its secrets: long texts, lists and what lies deep are cut, and say how
 * much is left out. It takes time in proportion to what is kept, whatever the size of the body.
 *
 * @returns the text, and whether it is the whole body but for its secrets.
 */
export function abridged(body: unknown): { readonly text: string; readonly isWhole: boolean } {
  const state = { left: MAX_TOTAL, isWhole: true };
  const text = JSON.stringify(part(body, '', false, 0, state), undefined, 2) ?? '';
  return { text, isWhole: state.isWhole };
}

interface State {
  /** Characters that may still be kept. */
  left: number;
  isWhole: boolean;
}

function part(value: unknown, name: string, isSecret: boolean, depth: number, state: State): unknown {
  if (typeof value === 'string') {
    // A field that was not set shows that.
    if (value !== '' && (isSecret || SECRET_NAME.test(name))) return MASK;
    return textPart(value, state);
  }
  if (typeof value !== 'object' || value === null) {
    state.left -= 8;
    return typeof value === 'bigint' ? String(value) : value;
  }
  // A long integer as it was written.
  if (isRawNumber(value)) return value;
  if (ArrayBuffer.isView(value)) return leftOut(state, `${value.byteLength} bytes`);
  if (state.left <= 0 || depth > MAX_DEPTH) return leftOut(state, 'more');
  const secret = isSecret || SECRET_FIELDS.has(name);
  if (Array.isArray(value)) {
    const items = [];
    for (const item of value.slice(0, MAX_ITEMS)) {
      if (state.left <= 0) break;
      items.push(part(item, '', secret, depth + 1, state));
    }
    const rest = value.length - items.length;
    return rest === 0 ? items : [...items, leftOut(state, `${rest} more`)];
  }
  // Without a prototype: a field may be called `__proto__`.
  const fields: Record<string, unknown> = Object.create(null);
  let count = 0;
  // Not all names are listed first: there may be very many.
  for (const field in value) {
    if (state.left <= 0 || count === MAX_FIELDS) {
      fields['…'] = leftOut(state, 'more fields');
      break;
    }
    count += 1;
    state.left -= field.length + 4;
    const shown = shortText(field, MAX_TEXT);
    // The names of cookies and of headers are no secrets.
    const isName = secret && /^(?:name|domain|path|sameSite|host|origin)$/.test(field);
    const of = (value as Record<string, unknown>)[field];
    fields[shown] = part(of, field, secret && !isName, depth + 1, state);
  }
  return fields;
}

function textPart(value: string, state: State): string {
  const most = Math.max(0, Math.min(MAX_TEXT, state.left));
  state.left -= Math.min(value.length, most) + 2;
  if (value.length <= most) return shortText(value, most);
  state.isWhole = false;
  if (value.length > MAX_TEXT && BASE64.test(value.slice(0, MAX_TEXT)))
    return `… (${value.length} characters of base64)`;
  return `${shortText(value, most)}… (${value.length} characters)`;
}

function leftOut(state: State, what: string): string {
  state.isWhole = false;
  return `… (${what})`;
}

/** The beginning of a text, without the secrets of the addresses in it. */
function shortText(text: string, most: number): string {
  return REDACTOR.text(text.slice(0, most), text.length > most).replace(FILE_ADDRESS, `$1${MASK}`);
}
