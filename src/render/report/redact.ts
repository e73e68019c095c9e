const CUT = '***';
/** Names of parameters whose values grant access. */
const SECRET_NAME =
  /token|key|secret|sig|signature|pass|pwd|auth|session|sid|jwt|credential|code|hash|hmac|access|otp|nonce|state/i;
/** Longer values may be secrets, whatever their names. Characters. */
const MAX_VALUE = 24;
const JSON_WEB_TOKEN = /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/;
/** A path segment of at least this many letters and digits is taken for a token. Characters. */
const MIN_TOKEN = 64;
/** Characters of an address that are read; the rest is dropped. */
const MAX_READ = 16_384;
const MAX_ADDRESS = 500;
const ADDRESS_IN_TEXT = /\b(?:https?|wss?):\/\/[^\s"'<>()]+/gi;
/** Shorter secrets would cut ordinary words. Characters. */
const MIN_SECRET = 6;

/** Removes secrets from addresses and texts that could give a reader access to other systems. */
export class Redactor {
  readonly #secrets: readonly string[];

  /** @param secrets known values that are removed wherever they occur. */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets.filter(({ length }) => length >= MIN_SECRET);
  }

  /** An address without user, password, fragment and values that may be secrets; 500 characters at most. */
  address(text: string): string {
    const url = URL.parse(text.slice(0, MAX_READ));
    // The part that was cut may have contained a secret.
    if (url === null && text.length > MAX_READ) return CUT;
    if (url === null) return this.#known(withoutSecrets(text)).slice(0, MAX_ADDRESS);
    const query = [...url.searchParams].map(([name, value]) => {
      const kept = value.length <= MAX_VALUE && !SECRET_NAME.test(name);
      return `${encodeURIComponent(name)}=${kept ? encodeURIComponent(value) : CUT}`;
    });
    const path = url.pathname
      .split('/')
      .map((part) => (isToken(part) ? CUT : part))
      .join('/');
    const host = url.host === '' ? '' : `//${url.host}`;
    const shown = `${url.protocol}${host}${path}${query.length > 0 ? `?${query.join('&')}` : ''}`;
    const safe = this.#known(shown);
    return safe.length > MAX_ADDRESS ? `${safe.slice(0, MAX_ADDRESS)}…` : safe;
  }

  /** Redacts a short text and its addresses. @param isCut whether its end may be the beginning of a secret. */
  text(text: string, isCut = false): string {
    const shown = text.replace(ADDRESS_IN_TEXT, (found, at: number) => {
      if (isCut && at + found.length === text.length) return CUT;
      // The end of a sentence is none of the address.
      const address = found.replace(/[.,;:!?]{1,10}$/, '');
      return this.address(address) + found.slice(address.length);
    });
    const safe = this.#known(shown);
    return isCut ? this.#secrets.reduce(withoutBeginning, safe) : safe;
  }

  #known(text: string): string {
    return this.#secrets.reduce((rest, secret) => rest.replaceAll(secret, CUT), text);
  }
}

/** Removes the end of a text if a secret begins with it. */
function withoutBeginning(text: string, secret: string): string {
  const length = overlap(text, secret.slice(0, text.length));
  return length < MIN_SECRET ? text : text.slice(0, -length) + CUT;
}

/**
 * The length of the longest end of a text that is also a beginning of a secret. Takes time in proportion to both
 * lengths (Knuth, Morris and Pratt, 1977), even for repetitive input.
 */
function overlap(text: string, secret: string): number {
  const borders = [0];
  const step = (from: number, character: string | undefined) => {
    let length = from;
    while (length > 0 && secret[length] !== character) length = borders[length - 1]!;
    return secret[length] === character ? length + 1 : length;
  };
  for (let i = 1; i < secret.length; i += 1) borders.push(step(borders[i - 1]!, secret[i]));
  let length = 0;
  for (let i = 0; i < text.length; i += 1) {
    length = step(length === secret.length ? borders[length - 1]! : length, text[i]);
  }
  return length;
}

/** Each pattern is anchored, so a segment takes time in proportion to its length. */
function isToken(part: string): boolean {
  if (JSON_WEB_TOKEN.test(part)) return true;
  return part.length >= MIN_TOKEN && /^[\w-]+$/.test(part) && /\d/.test(part) && /[A-Za-z]/.test(part);
}

/** Removes from a text that is no address the parts that would be its user, password, query and fragment. */
function withoutSecrets(text: string): string {
  const [rest = ''] = text.split(/[?#]/, 1);
  return rest.slice(rest.lastIndexOf('@') + 1);
}
