import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Connection } from 'mongoose';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';

const KEY_BYTES = 32;

interface LinkKey {
  /** What the links do. */
  readonly _id: string;
  /** Base64. */
  readonly key: string;
}

const KEYS: CollectionSpec = { name: 'mail_link_keys', account: { none: 'one key for each kind of link' } };

/**
 * Makes and checks the tokens of links in mails that do one thing without signing in. Their key signs nothing else, so no
 * other token of Platen passes here, and these tokens pass nowhere else. The key is made at its first use and kept in the
 * database, because the dispatcher, which writes the mails, has no secret of the installation.
 */
export class SignedLinks {
  readonly #keys: Collection<LinkKey>;
  readonly #purpose: string;
  readonly #lifeMs: number;
  #known: Buffer | undefined;

  /**
   * To be created before the connection's indexes.
   *
   * @param purpose what the links do; each has a key of its own.
   * @param lifeMs how long a link works, in milliseconds.
   */
  constructor(connection: Connection, purpose: string, lifeMs: number) {
    this.#keys = new Collection<LinkKey>(connection, KEYS);
    this.#purpose = purpose;
    this.#lifeMs = lifeMs;
  }

  /** @param names what the link is about, such as an account. */
  async sign(names: readonly string[], now: Date): Promise<string> {
    const signed = JSON.stringify([...names, now.getTime() + this.#lifeMs]);
    const payload = Buffer.from(signed).toString('base64url');
    return `${payload}.${mac(await this.#key(), payload)}`;
  }

  /** @returns what the link is about; undefined for a token that is malformed, forged or past its time. */
  async verify(token: string, now: Date): Promise<readonly string[] | undefined> {
    const [payload, given, ...rest] = token.split('.');
    if (payload === undefined || given === undefined || rest.length > 0) return undefined;
    // Compared as texts: the decoder would skip other characters in a token.
    const expected = Buffer.from(mac(await this.#key(), payload));
    const bytes = Buffer.from(given);
    if (bytes.length !== expected.length || !timingSafeEqual(bytes, expected)) return undefined;
    const signed = JSON.parse(Buffer.from(payload, 'base64url').toString()) as (string | number)[];
    const expiresAt = Number(signed.at(-1));
    return expiresAt > now.getTime() ? signed.slice(0, -1).map(String) : undefined;
  }

  async #key(): Promise<Buffer> {
    if (this.#known !== undefined) return this.#known;
    const found = await this.#keys.findById(this.#purpose);
    if (found === undefined) {
      const made = { _id: this.#purpose, key: randomBytes(KEY_BYTES).toString('base64') };
      // Of several processes that make the key at once, one succeeds.
      await this.#keys.insertAbsent([made]);
      return this.#key();
    }
    this.#known = Buffer.from(found.key, 'base64');
    return this.#known;
  }
}

function mac(key: Buffer, payload: string): string {
  return createHmac('sha256', key).update(payload).digest('base64url');
}
