import { createHash, timingSafeEqual } from 'node:crypto';

/** Somebody who runs the installation, as shown by a token of the administration. */
export interface Operator {
  /** The name of the token, for the audit log. */
  readonly operator: string;
  readonly ipAddress: string | undefined;
}

/** A token of the administration, and whose it is. */
interface OperatorToken {
  readonly name: string;
  readonly token: string;
}

/** The name of a token that is configured without one. */
const UNNAMED = 'operator';
/** Shorter tokens could be found by trying. Characters. */
const MIN_TOKEN = 32;
const NAME = /^[A-Za-z0-9._@-]{1,64}$/;
/** The characters of a bearer token (RFC 6750, section 2.1). */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

/** `token` or `name:token`, by commas or lines. @throws Error that says what is wrong, without the token. */
export function parseOperatorTokens(text: string): readonly OperatorToken[] {
  const entries = text
    .split(/[,\r\n]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  const tokens = entries.map((entry, i) => {
    const colon = entry.indexOf(':');
    const name = colon === -1 ? UNNAMED : entry.slice(0, colon);
    const token = entry.slice(colon + 1);
    if (!NAME.test(name)) throw new Error(`entry ${i + 1}: a name has 1 to 64 letters, digits, or . _ @ -`);
    if (token.length < MIN_TOKEN)
      throw new Error(`entry ${i + 1}: a token has ${MIN_TOKEN} characters or more`);
    if (!TOKEN.test(token)) throw new Error(`entry ${i + 1}: a token has letters, digits, or - . _ ~ + / =`);
    return { name, token };
  });
  const names = new Set(tokens.map(({ name }) => name));
  if (names.size < tokens.length) throw new Error('two tokens have the same name');
  return tokens;
}

/** Knows operators by their tokens, which it keeps as hashes alone. */
export class Operators {
  readonly #known: readonly { readonly name: string; readonly hash: Buffer }[];

  constructor(tokens: readonly OperatorToken[]) {
    this.#known = tokens.map(({ name, token }) => ({ name, hash: hashOf(token) }));
  }

  /** The name of a token; undefined for one that is unknown. It takes the same time whatever the token is. */
  nameOf(token: string): string | undefined {
    const hash = hashOf(token);
    let found: string | undefined;
    for (const { name, hash: known } of this.#known) if (timingSafeEqual(known, hash)) found = name;
    return found;
  }
}

/** Of equal length for every token, as `timingSafeEqual` requires. */
function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
