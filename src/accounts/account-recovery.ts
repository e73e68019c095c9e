import { createHash } from 'node:crypto';
import type { Connection } from 'mongoose';
import { byAccount } from '../audit/audit-log.ts';
import type { Clock } from '../clock.ts';
import { type CountedWindows, WindowCounter } from '../limits/fixed-window.ts';
import { countedNetworks } from '../limits/network-of.ts';
import type { MailOutbox } from '../mail/outbox.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type AccountLinks, type MailedPurpose, openLink } from './account-links.ts';
import type { AccountService } from './account-service.ts';
import type { Account, AccountStore } from './account-store.ts';

const HOUR_MS = 3_600_000;
const LIFE_MS: Readonly<Record<MailedPurpose, number>> = {
  'password-reset': HOUR_MS,
  'email-verification': 24 * HOUR_MS,
};
/** Mails to one address an hour. */
const MAILS_TO_ADDRESS = 3;
/** Mails that one network may request an hour; an IPv6 /48 may request ten times as many. */
const MAILS_OF_NETWORK = 20;
const MAILS: CountedWindows = {
  spec: { name: 'recovery_mails', indexes: [{ fields: { expiresAt: 1 } }] },
  fields: { count: 'mails', end: 'expiresAt' },
  lengthMs: HOUR_MS,
};

interface AccountRecoveryDeps {
  readonly accounts: AccountStore;
  readonly accountService: AccountService;
  readonly links: AccountLinks;
  readonly outbox: MailOutbox;
  readonly logger: Logger;
}

/** Lets the owner of an e-mail address set a new password and confirm the address, by mailed links. */
export class AccountRecovery {
  readonly #deps: AccountRecoveryDeps;
  readonly #mails: WindowCounter;
  #sending: Promise<unknown> = Promise.resolve();

  /** To be created before the connection's indexes. */
  constructor(connection: Connection, clock: Clock, deps: AccountRecoveryDeps) {
    this.#deps = deps;
    this.#mails = new WindowCounter(connection, clock, MAILS);
  }

  /**
   * Sends a link for a new password if the e-mail address has an account with a password. Neither the response nor its
   * duration reveals whether it has: all work that depends on it is done after the promise resolves.
   *
   * @param address the client's IP address; undefined when the connection is closed already.
   */
  async forgot(email: string, address: string | undefined): Promise<void> {
    const login = email.toLowerCase();
    const isWithin = await this.#count(login, address);
    this.#sending = Promise.all([this.#sending, isWithin && this.#sendReset(login)]).catch(
      (error: unknown) => {
        this.#deps.logger.error({ err: error }, 'a link for a new password could not be sent');
      },
    );
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

  /** Sends a link that confirms the address of an account, unless it has none or has reached its limit of mails. */
  async sendVerification(account: Account, address: string | undefined): Promise<void> {
    const { email } = account;
    if (email !== null && (await this.#count(email, address)))
      await this.#send(account, email, 'email-verification');
  }

  /** @returns the number of deleted counts and links. */
  async deleteExpired(now: Date): Promise<number> {
    return (await this.#mails.deleteEnded(now)) + (await this.#deps.links.deleteExpired(now));
  }

  /** Counts a requested mail, whether or not the address has an account. @returns whether the mail may be sent. */
  async #count(email: string, address: string | undefined): Promise<boolean> {
    const counted = [
      ...countedNetworks(address, MAILS_OF_NETWORK),
      {
        kind: 'address',
        name: createHash('sha256').update(email).digest('base64url'),
        bound: MAILS_TO_ADDRESS,
      },
    ];
    let isWithin = true;
    for (const { kind, name, bound } of counted) {
      const count = await this.#mails.add(this.#mails.window(`${kind} ${name}`), 1);
      isWithin &&= count <= bound;
    }
    return isWithin;
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
