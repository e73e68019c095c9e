import type { Observation } from './observations.ts';
import type { RequestLog } from './recorded-requests.ts';
import type { Redactor } from './redact.ts';

/**
 * The address that a source URL has led to instead, by its server or by a script, if that is another page.
 *
 * @param final the address of the page that was printed; undefined for a document that was sent.
 */
export function redirections(
  { entries }: Pick<RequestLog, 'entries'>,
  final: string | undefined,
  redactor: Pick<Redactor, 'address'>,
): Observation[] {
  const first = entries.find(({ main }) => main);
  if (first === undefined || final === undefined) return [];
  const last = redactor.address(final);
  if (isSamePage(first.url, last)) return [];
  const message = `the source URL ${first.url} led to ${last}, which was printed instead; a page to sign in, perhaps`;
  return [{ rule: 'redirect', message, selector: null, page: null }];
}

/** Whether two addresses differ only as an upgrade to https, a canonical host or a final slash do. */
function isSamePage(from: string, to: string): boolean {
  const plain = (address: string) => {
    const url = URL.parse(address);
    return url && `${url.host.replace(/^www\./, '')}${url.pathname.replace(/\/$/, '')}${url.search}`;
  };
  return plain(from) === plain(to);
}
