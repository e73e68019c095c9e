/** The name and the attributes of a cookie. */
export interface CookieKind {
  readonly name: string;
  /** With `Lax`, a browser also sends the cookie when another site navigates or redirects to this one. */
  readonly sameSite: 'Strict' | 'Lax';
}

/** For every path of this host, hidden from scripts; `Secure` on https. @param maxAgeS seconds; 0 deletes it. */
export function setCookie(kind: CookieKind, value: string, maxAgeS: number, publicUrl: string): string {
  const secure = isSecure(publicUrl) ? '; Secure' : '';
  return `${nameAt(publicUrl, kind)}=${value}; Path=/; Max-Age=${maxAgeS}; HttpOnly; SameSite=${kind.sameSite}${secure}`;
}

/**
 * The value of a cookie.
 *
 * @param cookies the header Cookie of a request.
 * @returns undefined without the cookie; also with several of them, since a neighbouring host may have set one.
 */
export function cookieIn(
  cookies: string | undefined,
  kind: CookieKind,
  publicUrl: string,
): string | undefined {
  const prefix = `${nameAt(publicUrl, kind)}=`;
  const found = (cookies ?? '')
    .split(';')
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie.startsWith(prefix));
  return found.length === 1 ? found[0]!.slice(prefix.length) : undefined;
}

/** Browsers accept a cookie with this prefix from this host only, for all of its paths, and over TLS. */
export function secureNameOf({ name }: CookieKind): string {
  return `__Host-${name}`;
}

/** With a public address of plain http, browsers would reject the secure name. */
function nameAt(publicUrl: string, kind: CookieKind): string {
  return isSecure(publicUrl) ? secureNameOf(kind) : kind.name;
}

function isSecure(publicUrl: string): boolean {
  return publicUrl.startsWith('https:');
}
