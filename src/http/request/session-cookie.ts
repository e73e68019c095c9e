import type { IssuedToken } from '../../tenants/accounts/access-token-store.ts';
import { type CookieKind, cookieIn, setCookie } from './cookies.ts';

/** The cookie that contains the token of a session. */
export const SESSION_COOKIE: CookieKind = { name: 'platen_session', sameSite: 'Strict' };

/** The token in the cookie of a session. @param cookies the header Cookie of a request. */
export function sessionTokenIn(cookies: string | undefined, publicUrl: string): string | undefined {
  return cookieIn(cookies, SESSION_COOKIE, publicUrl);
}

/** The header Set-Cookie that gives a browser its session. */
export function sessionCookie({ token, expiresAt }: IssuedToken, now: Date, publicUrl: string): string {
  const maxAgeS = Math.max(0, Math.floor((expiresAt.getTime() - now.getTime()) / 1000));
  return setCookie(SESSION_COOKIE, token, maxAgeS, publicUrl);
}

/** The header Set-Cookie that deletes the cookie of a session. */
export function noSessionCookie(publicUrl: string): string {
  return setCookie(SESSION_COOKIE, '', 0, publicUrl);
}
