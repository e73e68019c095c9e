import type { Connection } from 'mongoose';
import { SignedLinks } from '../../tenants/mail/signed-links.ts';

/** How long a link of a mail works. */
export const DISABLE_LINK_LIFE_MS = 30 * 24 * 3_600_000;

/** Makes and checks the tokens in mails that switch auto overage off without signing in. */
export class DisableLinks {
  readonly #links: SignedLinks;

  /** To be created before the connection's indexes. */
  constructor(connection: Connection) {
    this.#links = new SignedLinks(connection, 'auto-overage-disable', DISABLE_LINK_LIFE_MS);
  }

  sign(accountId: string, now: Date): Promise<string> {
    return this.#links.sign([accountId], now);
  }

  /** @returns the account; undefined for a token that is malformed, forged or past its time. */
  async verify(token: string, now: Date): Promise<string | undefined> {
    return (await this.#links.verify(token, now))?.[0];
  }
}
