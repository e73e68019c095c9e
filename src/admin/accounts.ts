import { deletionHindrance } from '../billing/deletion-hindrance.ts';
import { PlatenError } from '../infra/errors/registry.ts';
import { ownershipHindrance } from '../tenants/accounts/account-access.ts';
import type { Account, AccountSearch } from '../tenants/accounts/account-store.ts';
import type { DoneBy } from '../tenants/audit/audit-log.ts';
import { periodStart } from '../tenants/usage/periods.ts';
import type { AdminCore } from './admin-core.ts';
import { type Page, type RequestedPage, readPage } from './cursor.ts';

/** An account as operators see it. */
export interface ShownAccount {
  readonly id: string;
  readonly email: string | null;
  readonly plan: string;
  readonly createdAt: string;
  /** Since when it is suspended; null for an account in good standing. */
  readonly suspendedAt: string | null;
  /** Since when it is being deleted, with all that it has. */
  readonly deletingSince: string | null;
  readonly addressConfirmed: boolean;
  readonly signsInBy: 'password' | 'issuer';
  /** Of the last 24 hours, from the beginning of an hour. */
  readonly lastDay: { readonly requests: number; readonly failed: number };
}

/** An account, and its jobs at this moment. */
export interface ShownAccountDetail extends ShownAccount {
  readonly jobs: { readonly running: number; readonly waiting: number };
  readonly storedBytes: number;
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Finds accounts, suspends and resumes them, for the operators of an installation. */
export class AccountAdmin {
  readonly #core: AdminCore;

  constructor(core: AdminCore) {
    this.#core = core;
  }

  /** Newest first, or in the order of addresses. @param search an account's id, or how its address begins. */
  async list(
    {
      search,
      ...conditions
    }: Pick<AccountSearch, 'plan' | 'suspended'> & { readonly search?: string | undefined },
    requested: RequestedPage,
  ): Promise<Page<ShownAccount>> {
    const { accounts } = this.#core;
    if (search !== undefined && UUID.test(search)) {
      const one = await accounts.findNow(search.toLowerCase());
      return { rows: one === undefined ? [] : await this.#shown([one]), cursor: null };
    }
    const byAddress = search !== undefined && search !== '';
    const { rows, cursor } = await readPage(
      requested,
      (page) => accounts.search({ ...conditions, ...(byAddress && { email: search }) }, page),
      ({ email, createdAt }) => (byAddress ? (email ?? '') : createdAt),
      byAddress ? 'text' : 'time',
    );
    return { rows: await this.#shown(rows), cursor };
  }

  /** @throws PlatenError NOT_FOUND */
  async get(accountId: string): Promise<ShownAccountDetail> {
    const account = await this.require(accountId);
    const [[shown], ledger] = await Promise.all([this.#shown([account]), this.#core.ledger.find(accountId)]);
    const { inFlight: running = 0, waiting = 0, stored: storedBytes = 0 } = ledger ?? {};
    return { ...shown!, jobs: { running, waiting }, storedBytes };
  }

  /** Suspended again, it stays suspended as it is. @throws PlatenError NOT_FOUND */
  async suspend(accountId: string, reason: string, by: DoneBy): Promise<ShownAccountDetail> {
    await this.#core.accountService.suspend(await this.require(accountId), reason, by);
    return this.get(accountId);
  }

  /** @throws PlatenError NOT_FOUND; VALIDATION for an account that is being deleted. */
  async resume(accountId: string, by: DoneBy): Promise<ShownAccountDetail> {
    const account = await this.require(accountId);
    if (account.deletingSince !== undefined)
      throw new PlatenError('VALIDATION', `Account ${accountId} is being deleted, which cannot be undone.`);
    await this.#core.accountService.resume(account, by);
    return this.get(accountId);
  }

  /**
   * Has the account deleted with all that it has. From then on it is refused as a suspended account is; a sweep does
   * the rest. Asked for again, nothing changes.
   *
   * @param confirm the account's address or id, so that no other account is deleted by mistake.
   * @throws PlatenError NOT_FOUND; VALIDATION when `confirm` is another one, or the payment provider hinders it.
   */
  async delete(accountId: string, confirm: string, by: DoneBy): Promise<ShownAccountDetail> {
    const { accounts, accountService, deletions, billing, clock } = this.#core;
    const account = await this.require(accountId);
    if (![account.email, accountId].includes(confirm.trim().toLowerCase()))
      throw new PlatenError(
        'VALIDATION',
        `confirm: is neither the address nor the id of account ${accountId}.`,
      );
    const reason =
      account.deletingSince === undefined
        ? ((await ownershipHindrance(accounts, accountId)) ??
          (await deletionHindrance(billing, accountId, clock)))
        : undefined;
    if (reason !== undefined)
      throw new PlatenError('VALIDATION', `Account ${accountId} cannot be deleted: ${reason}.`);
    // First, because no sweep would find a marked account that is not noted.
    await deletions.note(accountId, by);
    await accountService.markDeleting(account, by);
    if (account.deletingSince === undefined) await deletions.hasten(accountId);
    return this.get(accountId);
  }

  /** The account, read from the database. @throws PlatenError NOT_FOUND */
  async require(accountId: string): Promise<Account> {
    const account = await this.#core.accounts.findNow(accountId);
    if (account === undefined) throw new PlatenError('NOT_FOUND', `There is no account ${accountId}.`);
    return account;
  }

  async #shown(accounts: readonly Account[]): Promise<ShownAccount[]> {
    const { counters, clock } = this.#core;
    const ids = accounts.map(({ _id }) => _id);
    const requests = await counters.requestsOf(ids, periodStart('1d', clock.now()));
    return accounts.map((account) => ({
      id: account._id,
      email: account.email,
      plan: account.plan,
      createdAt: account.createdAt.toISOString(),
      suspendedAt: account.suspendedAt?.toISOString() ?? null,
      deletingSince: account.deletingSince?.toISOString() ?? null,
      addressConfirmed: account.emailVerifiedAt !== undefined,
      signsInBy: account.login === undefined ? 'issuer' : 'password',
      lastDay: requests.get(account._id) ?? { requests: 0, failed: 0 },
    }));
  }
}
