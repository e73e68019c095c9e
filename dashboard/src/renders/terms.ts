import { momentOf, oneOf } from '../filters.ts';
import { duration } from '../format.ts';
import { STATUSES } from '../statuses.ts';

export const MODES = ['live', 'test'] as const;
/** Orders of the list besides the usual one, the newest first. */
const SORTS = ['created_asc', 'duration_desc'] as const;
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** What narrows the list, as it is called in the address. */
export const TERMS = [
  'search',
  'status',
  'mode',
  'error',
  'templateId',
  'apiKeyId',
  'minMs',
  'maxMs',
  'from',
  'to',
] as const;
type Term = (typeof TERMS)[number];

/** What the list is narrowed by, of an address that may have been typed: what makes no sense is left out. */
export function termsOf(filters: URLSearchParams) {
  const status = oneOf(filters.get('status'), STATUSES);
  const mode = oneOf(filters.get('mode'), MODES);
  const from = momentOf(filters.get('from'));
  const to = momentOf(filters.get('to'));
  const search = filters.get('search')?.trim().slice(0, 100);
  const error = /^[A-Z_]{3,40}$/.exec(filters.get('error') ?? '')?.[0];
  const templateId = ID.exec(filters.get('templateId') ?? '')?.[0];
  const apiKeyId =
    /^none$/.exec(filters.get('apiKeyId') ?? '')?.[0] ?? ID.exec(filters.get('apiKeyId') ?? '')?.[0];
  const minMs = millisecondsOf(filters.get('minMs'));
  const maxMs = millisecondsOf(filters.get('maxMs'));
  return {
    ...(search && { search }),
    ...(status && { status }),
    ...(mode && { mode }),
    ...(error && { error: error as 'INTERNAL' }),
    ...(templateId && { templateId }),
    ...(apiKeyId && { apiKeyId }),
    ...(minMs !== undefined && { minMs }),
    ...(maxMs !== undefined && { maxMs }),
    ...(from && { from }),
    ...(to && { to }),
  };
}

/** The order of the list that an address asks for; undefined for the usual one. */
export function sortOf(filters: URLSearchParams) {
  return oneOf(filters.get('sort'), SORTS);
}

function millisecondsOf(text: string | null): number | undefined {
  return /^\d{1,8}$/.test(text ?? '') ? Number(text) : undefined;
}

/** Names of what the terms hold ids of. */
export interface Names {
  readonly templates: ReadonlyMap<string, string>;
  readonly keys: ReadonlyMap<string, string>;
}

/** A term in words, as a chip has it. */
export function wordsOf(term: Term, value: string | number, { templates, keys }: Names): string {
  const text = String(value);
  const moment = () => new Date(text).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  switch (term) {
    case 'search':
      return `“${text}”`;
    case 'templateId':
      return `Template ${templates.get(text) ?? text.slice(-8)}`;
    case 'apiKeyId':
      return text === 'none' ? 'From the dashboard' : `Key ${keys.get(text) ?? text.slice(-8)}`;
    case 'minMs':
      return `Took ${duration(Number(value))} or longer`;
    case 'maxMs':
      return `Took at most ${duration(Number(value))}`;
    case 'from':
      return `Since ${moment()}`;
    case 'to':
      return `Before ${moment()}`;
    default:
      return `${term.charAt(0).toUpperCase()}${term.slice(1)}: ${text}`;
  }
}
