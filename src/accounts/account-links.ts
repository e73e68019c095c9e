import { randomBytes } from 'node:crypto';
import type { Connection } from 'mongoose';
import type { Clock } from '../clock.ts';
import { PlatenError } from '../errors/registry.ts';
import { hashSecret } from '../hash-secret.ts';
import { Collection, type CollectionSpec } from '../store/collection.ts';
import type { Account, AccountStore } from './account-store.ts';

/** What a mailed link allows once. */
export type MailedPurpose = 'password-reset' | 'email-verification';
/** `sign-in` is for a link that the service prints to its own terminal. */
type LinkPurpose = MailedPurpose | 'sign-in';

/** A link for the owner of an account. */
interface AccountLink {
  /** Hex SHA-256 of its token. */
  readonly _id: string;
  readonly accountId: string;
  readonly purpose: LinkPurpose;
  /** The account's e-mail address when the link was made. */
  readonly email: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

const TOKEN_BYTES = 32;
const LINKS: CollectionSpec = { name: 'account_links', indexes: [{ fields: { expiresAt: 1 } }] };

/** Owns the links that let the owner of an account do something once. Only hashes of their tokens are stored. */
export class AccountLinks {
  readonly #links: Collection<AccountLink>;
  readonly #clock: Clock;

  /** To be created before the connection's indexes. */
  constructor(connection: Connection, clock: Clock) {
    this.#links = new Collection(connection, LINKS);
    this.#clock = clock;
  }

  /** @param lifeMs how long the link can be used, in milliseconds. */
  async create(
    { accountId, purpose, email }: Pick<AccountLink, 'accountId' | 'purpose' | 'email'>,
    lifeMs: number,
  ): Promise<{ readonly token: string; readonly expiresAt: Date }> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const createdAt = this.#clock.now();
    const expiresAt = new Date(createdAt.getTime() + lifeMs);
    await this.#links.insert({ _id: hashSecret(token), accountId, purpose, email, createdAt, expiresAt });
    return { token, expiresAt };
  }

  /** Uses a link up. @returns undefined when no valid link of this purpose has the token. */
  async take(token: string, purpose: LinkPurpose): Promise<AccountLink | undefined> {
    const link = await this.#links.findById(hashSecret(token));
    if (link?.purpose !== purpose || link.expiresAt <= this.#clock.now()) return undefined;
    // When two requests take the link concurrently, only one of them deletes it.
    return (await this.#links.deleteOne({ _id: link._id })) ? link : undefined;
  }

  /** @returns the number of deleted links. */
  deleteExpired(now: Date): Promise<number> {
    return this.#links.deleteMany({ expiresAt: { $lte: now } });
  }
}

/**
 * Uses up an opened link.
 *
 * @returns the account that the link belongs to.
 * @throws PlatenError LINK_INVALID when the link was used or has expired, and when all tokens of the account have been
 * revoked or its address has changed since the link was made.
 */
export async function openLink(
  { links, accounts }: { readonly links: AccountLinks; readonly accounts: AccountStore },
  token: string,
  purpose: LinkPurpose,
): Promise<Account> {
  const link = await links.take(token, purpose);
  const account = link && (await accounts.findNow(link.accountId));
  const { tokensNotBefore } = account ?? {};
  // A new password invalidates older links, as it invalidates older tokens.
  const isOver = tokensNotBefore != null && link !== undefined && link.createdAt < tokensNotBefore;
  if (link === undefined || account === undefined || account.email !== link.email || isOver)
    throw new PlatenError('LINK_INVALID');
  return account;
}
