import type { Observation } from './observations.ts';
import type { RequestLog } from './request-log.ts';

/** The address that a source URL has led to instead, if that is another page. */
export function redirections({ entries }: Pick<RequestLog, 'entries'>): Observation[] {
  const pages = entries.filter(({ main }) => main);
  const [first, last] = [pages[0], pages.at(-1)];
  if (first === undefined || last === undefined || first.outcome !== 'redirected') return [];
  if (isSamePage(first.url, last.url)) return [];
  const message = `the source URL ${first.url} led to ${last.url}, which was printed instead; a page to sign in, perhaps`;
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
