import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Connection } from 'mongoose';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';

/** How long a link of a mail works. */
export const DISABLE_LINK_LIFE_MS = 30 * 24 * 3_600_000;

const KEY_ID = 'auto-overage-disable';
const KEY_BYTES = 32;

interface LinkKey {
  readonly _id: string;
  /** Base64. */
  readonly key: string;
}

const KEYS: CollectionSpec = { name: 'billing_link_keys', account: { none: 'one key for all accounts' } };

/**
 * Makes and checks the tokens in mails that switch auto overage off without signing in. Their key signs nothing else,
 * so no other token of Platen passes here, and these tokens pass nowhere else. The key is made at its first use and
 * kept in the database, because the dispatcher, which writes the mails, has no secret of the installation.
 */
export class DisableLinks {
  readonly #keys: Collection<LinkKey>;
  #known: Buffer | undefined;

  /** To be created before the connection's indexes. */
  constructor(connection: Connection) {
    this.#keys = new Collection<LinkKey>(connection, KEYS);
  }

  async sign(accountId: string, now: Date): Promise<string> {
    const expiresAt = now.getTime() + DISABLE_LINK_LIFE_MS;
    const payload = Buffer.from(JSON.stringify([accountId, expiresAt])).toString('base64url');
    return `${payload}.${mac(await this.#key(), payload)}`;
  }

  /** @returns the account; undefined for a token that is malformed, forged or past its time. */
  async verify(token: string, now: Date): Promise<string | undefined> {
    const [payload, given, ...rest] = token.split('.');
    if (payload === undefined || given === undefined || rest.length > 0) return undefined;
    // Compared as texts: the decoder would skip other characters in a token.
    const expected = Buffer.from(mac(await this.#key(), payload));
    const bytes = Buffer.from(given);
    if (bytes.length !== expected.length || !timingSafeEqual(bytes, expected)) return undefined;
    const [accountId, expiresAt] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [
      string,
      number,
    ];
    return expiresAt > now.getTime() ? accountId : undefined;
  }

  async #key(): Promise<Buffer> {
    if (this.#known !== undefined) return this.#known;
    const found = await this.#keys.findById(KEY_ID);
    if (found === undefined) {
      const made = { _id: KEY_ID, key: randomBytes(KEY_BYTES).toString('base64') };
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
