import type { Findings } from './findings.ts';
import { type LoggedRequest, RELATIVE } from './recorded-requests.ts';

/** Relative addresses that are named, each by a warning of its own; the others are counted. */
const MAX_NAMED = 20;

/** Warnings about what a document given as HTML asked for by relative addresses, which lead nowhere. */
export function relativeAssets(requests: readonly LoggedRequest[]): string[] {
  const names = requests.filter(({ rule }) => rule === RELATIVE).map(({ url }) => url);
  const named = names
    .slice(0, MAX_NAMED)
    .map((name) => `${name} was not loaded: it is a relative address, and there is no baseUrl`);
  const more = names.length - named.length;
  return more > 0 ? [...named, `${more} more relative addresses were not loaded`] : named;
}

/** A warning about the links that are printed without a target, since they are relative. */
export function relativeLinks({ relativeLinks: { named, count }, redactor }: Findings): string[] {
  if (count === 0) return [];
  const names = [...new Set(named.map((address) => redactor.address(address) || address.slice(0, 1)))].join(
    ', ',
  );
  const what = count === 1 ? '1 relative link leads' : `${count} relative links lead`;
  return [`${what} nowhere, since there is no baseUrl: ${names}${count > named.length ? ', …' : ''}`];
}
