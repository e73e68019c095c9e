import type { Connection } from 'mongoose';
import type { Clock } from '../../infra/clock.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import type { Account, AccountStore } from './account-store.ts';
import { hasKnownOwner } from './known-owner.ts';
import { type SingleUse, SingleUseStore, singleUseSpec } from './single-use-store.ts';

/** What a mailed link allows once. */
export type MailedPurpose = 'password-reset' | 'email-verification';
/** `sign-in` is for a link that the service prints to its own terminal. */
type LinkPurpose = MailedPurpose | 'sign-in';

/** A link for the owner of an account. */
interface AccountLink extends SingleUse {
  readonly accountId: string;
  readonly purpose: LinkPurpose;
  /** The account's e-mail address when the link was made. */
  readonly email: string | null;
}

const LINKS = singleUseSpec('account_links', 'accountId');
const TOKEN_BYTES = 32;

/** Owns the links that let the owner of an account do something once. Only hashes of their tokens are stored. */
export class AccountLinks extends SingleUseStore<AccountLink> {
  constructor(connection: Connection, clock: Clock) {
    super(connection, clock, LINKS, TOKEN_BYTES);
  }
}

interface LinkDeps {
  readonly links: AccountLinks;
  readonly accounts: AccountStore;
}

/**
 * Uses up an opened link.
 *
 * @returns the account that the link belongs to.
 * @throws PlatenError LINK_INVALID when the link was used or has expired, and when since it was made the account's address has
 * changed, or all tokens of an account with a known owner have been revoked.
 */
export async function openLink(deps: LinkDeps, token: string, purpose: LinkPurpose): Promise<Account> {
  return accountOf(deps, await deps.links.take(token, (found) => found.purpose === purpose));
}

/** The same, but the link can still be used. */
export async function readLink(deps: LinkDeps, token: string, purpose: LinkPurpose): Promise<Account> {
  return accountOf(deps, await deps.links.read(token, (found) => found.purpose === purpose));
}

async function accountOf({ accounts }: LinkDeps, link: AccountLink | undefined): Promise<Account> {
  const account = link && (await accounts.findNow(link.accountId));
  const { tokensNotBefore } = account ?? {};
  // A new password invalidates older links, as it invalidates older tokens; but nobody who has registered somebody else's
  // address can keep its owner from taking the account over.
  const isOver =
    account !== undefined &&
    hasKnownOwner(account) &&
    tokensNotBefore != null &&
    link !== undefined &&
    link.createdAt < tokensNotBefore;
  if (link === undefined || account === undefined || account.email !== link.email || isOver)
    throw new PlatenError('LINK_INVALID');
  return account;
}
