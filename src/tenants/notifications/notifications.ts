import type { Account } from '../accounts/account.ts';
import type { AccountAccess } from '../accounts/account-access.ts';
import { hasKnownOwner } from '../accounts/known-owner.ts';
import type { Stores } from '../accounts/stores.ts';
import type { Team } from '../accounts/team.ts';
import { byAccount, type DoneBy } from '../audit/audit-log.ts';
import type { AlertKind } from '../mail/mail.ts';
import type { SignedLinks } from '../mail/signed-links.ts';
import { ALERT_KINDS, type Choices, isAlertKind, mayHave, wants } from './alert-kinds.ts';
import type { NotificationStore } from './notification-store.ts';
import type { Thresholds } from './thresholds.ts';

interface NotificationsDeps extends Pick<Stores, 'accounts' | 'audit' | 'clock'> {
  readonly store: NotificationStore;
  readonly access: Pick<AccountAccess, 'roleIn'>;
  readonly team: Pick<Team, 'members'>;
  readonly links: SignedLinks;
}

/** Somebody who gets a mail. */
export interface Recipient {
  readonly personId: string;
  readonly email: string;
}

/** Whom an account's alerts reach by mail, and from when on there are any. Each change is in the audit log. */
export class Notifications {
  readonly #deps: NotificationsDeps;

  constructor(deps: NotificationsDeps) {
    this.#deps = deps;
  }

  /** What a person gets: of each alert, whether it comes, and whether the role allows it. */
  async of(account: Account, person: Account) {
    const [{ thresholds, choicesOf }, role] = await Promise.all([
      this.#deps.store.of(account._id),
      this.#deps.access.roleIn(account, person),
    ]);
    const mails = ALERT_KINDS.map((kind) => ({
      kind,
      on: wants(role ?? 'none', kind, choicesOf(person._id)),
      available: mayHave(role ?? 'none', kind),
    }));
    return { mails, thresholds };
  }

  async thresholdsOf(accountId: string): Promise<Thresholds> {
    return (await this.#deps.store.of(accountId)).thresholds;
  }

  async choose(accountId: string, personId: string, choices: Choices, by: DoneBy): Promise<void> {
    await this.#deps.store.choose(accountId, personId, choices);
    await this.#record(accountId, choices, by);
  }

  async setThresholds(accountId: string, thresholds: Partial<Thresholds>, by: DoneBy): Promise<void> {
    await this.#deps.store.setThresholds(accountId, thresholds);
    await this.#record(accountId, thresholds, by);
  }

  /**
   * The people of an account who want the alert: of addresses that are known to be theirs, since an account can be made
   * with the address of somebody else.
   */
  async recipients(account: Account, kind: AlertKind): Promise<Recipient[]> {
    const [{ choicesOf }, members] = await Promise.all([
      this.#deps.store.of(account._id),
      this.#deps.team.members(account),
    ]);
    return members.flatMap(({ person, role }) => {
      const { _id: personId, email } = person;
      const gets = email !== null && hasKnownOwner(person) && wants(role, kind, choicesOf(personId));
      return gets ? [{ personId, email }] : [];
    });
  }

  /** The token of the link by which a person ends the mails of one alert without signing in. */
  linkOf(accountId: string, { personId, about }: { personId: string; about: AlertKind }): Promise<string> {
    return this.#deps.links.sign([accountId, personId, about], this.#deps.clock.now());
  }

  /** What a token ends; undefined for one that is not valid, or of a person who has left the account. */
  async readLink(token: string) {
    const { links, accounts, access, clock } = this.#deps;
    const [accountId = '', personId = '', about] = (await links.verify(token, clock.now())) ?? [];
    if (!isAlertKind(about)) return undefined;
    const [account, person] = await Promise.all([accounts.find(accountId), accounts.find(personId)]);
    const role = account && person && (await access.roleIn(account, person));
    return role === undefined ? undefined : { accountId, personId, about };
  }

  /** Ends the mails that a token is about. @returns the alert; undefined as for `readLink`. */
  async unsubscribe(token: string, clientAddress: string | undefined): Promise<AlertKind | undefined> {
    const found = await this.readLink(token);
    if (found === undefined) return undefined;
    const { accountId, personId, about } = found;
    await this.choose(accountId, personId, { [about]: false }, byAccount(clientAddress, personId));
    return about;
  }

  #record(accountId: string, changed: object, by: DoneBy): Promise<void> {
    const details = Object.entries(changed).map(([name, value]) => [name, String(value)] as const);
    return this.#deps.audit.record({
      ...{ accountId, action: 'notifications.changed', ...by },
      details: Object.fromEntries(details),
    });
  }
}
