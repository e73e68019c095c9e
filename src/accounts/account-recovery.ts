import { byAccount } from '../audit/audit-log.ts';
import type { MailOutbox } from '../mail/outbox.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type AccountLinks, type MailedPurpose, openLink } from './account-links.ts';
import type { AccountService } from './account-service.ts';
import type { Account, AccountStore } from './account-store.ts';
import type { MailLimit } from './mail-limit.ts';

const HOUR_MS = 3_600_000;
const LIFE_MS: Readonly<Record<MailedPurpose, number>> = {
  'password-reset': HOUR_MS,
  'email-verification': 24 * HOUR_MS,
};

interface AccountRecoveryDeps {
  readonly accounts: AccountStore;
  readonly accountService: AccountService;
  readonly links: AccountLinks;
  readonly limit: MailLimit;
  readonly outbox: MailOutbox;
  readonly logger: Logger;
}

/** Lets the owner of an e-mail address set a new password and confirm the address, by mailed links. */
export class AccountRecovery {
  readonly #deps: AccountRecoveryDeps;
  #sending: Promise<unknown> = Promise.resolve();

  constructor(deps: AccountRecoveryDeps) {
    this.#deps = deps;
  }

  /**
   * Sends a link for a new password if the e-mail address has an account with a password. Neither the response nor its
   * duration reveals whether it has: all work that depends on it is done after the promise resolves.
   *
   * @param address the client's IP address; undefined when the connection is closed already.
   * @throws PlatenError TOO_MANY_MAILS, by what was requested and not by what was sent: it reveals no account either.
   */
  async forgot(email: string, address: string | undefined): Promise<void> {
    const login = email.toLowerCase();
    await this.#deps.limit.count(login, 'password-reset', address);
    this.#sending = Promise.all([this.#sending, this.#sendReset(login)]).catch((error: unknown) => {
      this.#deps.logger.error({ err: error }, 'a link for a new password could not be sent');
    });
  }

  /** Resolves when the requested mails are in the outbox. */
  async flush(): Promise<void> {
    await this.#sending;
  }

  /**
   * Sets a new password by a link, and revokes all sessions, bearer tokens and other links of the account.
   *
   * @throws PlatenError LINK_INVALID
   */
  async reset(token: string, password: string, address: string | undefined): Promise<void> {
    const account = await openLink(this.#deps, token, 'password-reset');
    await this.#deps.accountService.resetPassword(account, password, byAccount(address));
    // The link proves that its holder can read mail at the address.
    await this.#deps.accounts.setEmailVerified(account._id);
  }

  /** @throws PlatenError LINK_INVALID */
  async verifyEmail(token: string): Promise<void> {
    const account = await openLink(this.#deps, token, 'email-verification');
    await this.#deps.accounts.setEmailVerified(account._id);
  }

  /**
   * Sends a link that confirms the address of an account, unless it has none.
   *
   * @throws PlatenError TOO_MANY_MAILS
   */
  async sendVerification(account: Account, address: string | undefined): Promise<void> {
    const { email } = account;
    if (email === null) return;
    await this.#deps.limit.count(email, 'email-verification', address);
    await this.#send(account, email, 'email-verification');
  }

  /** @returns the number of deleted counts and links. */
  async deleteExpired(now: Date): Promise<number> {
    return (await this.#deps.limit.deleteExpired(now)) + (await this.#deps.links.deleteExpired(now));
  }

  async #sendReset(login: string): Promise<void> {
    const account = await this.#deps.accounts.findByEmail(login);
    // Accounts of an issuer and accounts made for automation have no password to reset.
    if (account?.passwordHash == null) return;
    await this.#send(account, login, 'password-reset');
  }

  async #send({ _id: accountId }: Account, email: string, purpose: MailedPurpose): Promise<void> {
    const { links, outbox } = this.#deps;
    const { secret, record } = await links.create({ accountId, purpose, email }, LIFE_MS[purpose]);
    const id = `${purpose}:${record._id}`;
    await outbox.enqueue({
      id,
      accountId,
      to: email,
      kind: purpose,
      values: { token: secret, until: record.expiresAt.toISOString() },
    });
  }
}
