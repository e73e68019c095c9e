import type { Request } from 'express';
import { PlatenError } from '../../infra/errors/registry.ts';

/**
 * Accepts only requests of pages of the public origin. A browser also adds the cookie of a session to requests of other
 * pages of the same site, and states the origin in headers that no page can set: in Sec-Fetch-Site, or in Origin when
 * it does not support that header or uses plain http.
 *
 * @param publicUrl PLATEN_PUBLIC_URL, or its default.
 * @throws PlatenError ORIGIN_NOT_ALLOWED, with the received header and the setting that it was compared with.
 */
export function requireSameOrigin(request: Pick<Request, 'headers'>, publicUrl: string): void {
  const { 'sec-fetch-site': site, origin } = request.headers;
  if (site === 'same-origin') return;
  if (site !== undefined) {
    throw new PlatenError(
      'ORIGIN_NOT_ALLOWED',
      `The header Sec-Fetch-Site is ${quoted(site)}, and must be same-origin: only pages of this service may ask for this.`,
    );
  }
  const expected = new URL(publicUrl).origin;
  if (origin === expected) return;
  const received =
    origin === undefined ? 'The header Origin is missing' : `The header Origin is ${quoted(origin)}`;
  throw new PlatenError(
    'ORIGIN_NOT_ALLOWED',
    `${received}, and must be ${expected}, the origin of PLATEN_PUBLIC_URL: open the service at that address, or correct the setting.`,
  );
}

function quoted(value: string | string[]): string {
  return JSON.stringify(String(value).slice(0, 200));
}
