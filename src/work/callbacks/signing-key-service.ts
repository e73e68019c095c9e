import { PlatenError } from '../../infra/errors/registry.ts';
import type { AccountReader } from '../../tenants/accounts/account-store.ts';
import type { Caller } from '../../tenants/accounts/caller.ts';
import type { AuditLog, DoneBy } from '../../tenants/audit/audit-log.ts';
import type { SigningKey, SigningKeys } from './signing-keys.ts';

type KeyOwner = Pick<Caller, 'accountId' | 'ownerFence'>;

/** Changes the keys that sign callbacks: every change is in the audit log when it resolves. */
export class SigningKeyService {
  readonly #keys: SigningKeys;
  readonly #audit: AuditLog;
  readonly #accounts: Pick<AccountReader, 'findNow'>;

  constructor(deps: { keys: SigningKeys; audit: AuditLog; accounts: Pick<AccountReader, 'findNow'> }) {
    this.#keys = deps.keys;
    this.#accounts = deps.accounts;
    this.#audit = deps.audit;
  }

  /** The keys that sign at the moment, the newest first; none until the account has had one. */
  list({ accountId, ownerFence }: KeyOwner): Promise<readonly SigningKey[]> {
    return this.#keys.list(accountId, ownerFence);
  }

  /**
   * Makes a new key; earlier keys sign for 24 hours more.
   *
   * @returns the new one.
   * @throws PlatenError UNAUTHENTICATED when the account has had another owner since; UNAVAILABLE when other processes
   * keep rotating at the same moment.
   */
  async rotate({ accountId, ownerFence }: KeyOwner, by: DoneBy): Promise<SigningKey> {
    const key = await this.#keys.rotate(accountId, ownerFence);
    if ((await this.#accounts.findNow(accountId))?.ownerFence !== ownerFence)
      throw new PlatenError('UNAUTHENTICATED');
    await this.#audit.record({ accountId, action: 'webhook_key.rotated', ...by, targetId: key.id });
    return key;
  }
}
