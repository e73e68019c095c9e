import { PlatenError } from '../../infra/errors/registry.ts';
import { byAccount } from '../audit/audit-log.ts';
import { type MailedPurpose, openLink, readLink } from './account-links.ts';
import type { AccountService } from './account-service.ts';
import type { Account } from './account-store.ts';
import type { AccountTakeover } from './account-takeover.ts';
import { hasKnownOwner } from './known-owner.ts';
import type { Stores } from './stores.ts';

const HOUR_MS = 3_600_000;
const LIFE_MS: Readonly<Record<MailedPurpose, number>> = {
  'password-reset': HOUR_MS,
  'email-verification': 24 * HOUR_MS,
};

interface AccountRecoveryDeps extends Pick<Stores, 'accounts' | 'links' | 'mailLimit' | 'outbox' | 'logger'> {
  readonly accountService: AccountService;
  readonly takeover: AccountTakeover;
  readonly countKeys: (accountId: string) => Promise<number>;
}

/** How the holder of a link proves to be who registered the account, or asks to take it over. */
export interface EmailProof {
  readonly isOwner: (account: Account) => Promise<boolean>;
  readonly newPassword: string | undefined;
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
    await this.#deps.mailLimit.count(login, 'password-reset', address);
    this.#sending = Promise.all([this.#sending, this.#sendReset(login)]).catch((error: unknown) => {
      this.#deps.logger.error({ err: error }, 'a link for a new password could not be sent');
    });
  }

  /** Resolves when the requested mails are in the outbox. */
  async flush(): Promise<void> {
    await this.#sending;
  }

  /**
   * Sets a new password by a link, and revokes all sessions, bearer tokens and other links of the account. The link
   * proves that its holder can read mail at the address. When nobody has proved that before, somebody else may have
   * registered the account: then its holder takes it over, which also ends its keys and its work.
   *
   * @throws PlatenError LINK_INVALID
   */
  async reset(token: string, password: string, address: string | undefined): Promise<void> {
    const { accountService } = this.#deps;
    const account = await openLink(this.#deps, token, 'password-reset');
    const by = byAccount(address);
    if (!hasKnownOwner(account)) return this.#takeOver(account, password, address);
    if (!(await accountService.resetPassword(account, password, by))) throw new PlatenError('LINK_INVALID');
    if (account.emailVerifiedAt === undefined) await accountService.confirmAddress(account, by);
  }

  /**
   * Confirms the address of an account by a link. The link alone does not prove that its holder registered the account:
   * anybody can register with somebody else's address, and wait for that person to press the link. So it needs a further
   * proof that both are one person, or ends what the account has.
   *
   * @param isOwner whether the caller is known to be who registered the account; may throw an error of its own.
   * @param newPassword for a caller who is not: the caller takes the account over with it.
   * @throws PlatenError LINK_INVALID; CONFIRMATION_UNPROVEN with what the account has, and the link can still be used.
   */
  async verifyEmail(
    token: string,
    { isOwner, newPassword }: EmailProof,
    address: string | undefined,
  ): Promise<void> {
    const purpose = 'email-verification';
    const seen = await readLink(this.#deps, token, purpose);
    if (newPassword !== undefined) {
      // A confirmed account gets a new password by a link that is for that, and lasts an hour.
      if (hasKnownOwner(seen)) throw new PlatenError('LINK_INVALID');
      return this.#takeOver(await openLink(this.#deps, token, purpose), newPassword, address);
    }
    if (!hasKnownOwner(seen) && !(await isOwner(seen))) throw await this.#unproven(seen);
    const account = await openLink(this.#deps, token, purpose);
    await this.#deps.accountService.confirmAddress(account, byAccount(address));
  }

  /** Sends a link that confirms an account's address, unless it has none. @throws PlatenError TOO_MANY_MAILS */
  async sendVerification(account: Account, address: string | undefined): Promise<void> {
    const { email } = account;
    if (email === null) return;
    await this.#deps.mailLimit.count(email, 'email-verification', address);
    await this.#send(account, email, 'email-verification');
  }

  /** Sends the link that confirms the address of a new account, in the background; its owner can ask for another one. */
  welcome(account: Account, address: string | undefined): void {
    this.#sending = Promise.all([this.#sending, this.sendVerification(account, address)]).catch(
      (error: unknown) => {
        this.#deps.logger.warn({ err: error }, 'a new account gets no link that confirms its address');
      },
    );
  }

  async deleteExpired(now: Date): Promise<number> {
    return (await this.#deps.mailLimit.deleteExpired(now)) + (await this.#deps.links.deleteExpired(now));
  }

  /** @throws PlatenError LINK_INVALID when the account was taken over at the same moment. */
  async #takeOver(account: Account, password: string, address: string | undefined): Promise<void> {
    const isTaken = await this.#deps.takeover.takeOver(account, password, byAccount(address));
    if (!isTaken) throw new PlatenError('LINK_INVALID');
  }

  async #unproven({ _id, createdAt }: Account): Promise<PlatenError> {
    const total = await this.#deps.countKeys(_id);
    const day = createdAt.toISOString().slice(0, 10);
    const keys = total === 1 ? '1 active API key' : `${total} active API keys`;
    return new PlatenError(
      'CONFIRMATION_UNPROVEN',
      `The account was made on ${day} and has ${keys}. Confirm that it was you who made it.`,
    );
  }

  async #sendReset(login: string): Promise<void> {
    const account = await this.#deps.accounts.findByEmail(login);
    // Accounts of an issuer and accounts made for automation have no password to reset.
    if (account?.passwordHash == null) return;
    await this.#send(account, login, 'password-reset', !hasKnownOwner(account));
  }

  async #send(
    { _id: accountId }: Account,
    email: string,
    purpose: MailedPurpose,
    endsAll = false,
  ): Promise<void> {
    const { links, outbox } = this.#deps;
    const { secret, record } = await links.create({ accountId, purpose, email }, LIFE_MS[purpose]);
    const id = `${purpose}:${record._id}`;
    await outbox.enqueue({
      id,
      accountId,
      to: email,
      kind: purpose,
      values: { token: secret, until: record.expiresAt.toISOString(), ...(endsAll && { endsAll }) },
    });
  }
}
