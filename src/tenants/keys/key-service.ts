import { PlatenError } from '../../infra/errors/registry.ts';
import type { Account, AccountReader } from '../accounts/account-store.ts';
import type { AuditAction, AuditLog, DoneBy } from '../audit/audit-log.ts';
import type { ApiKey, KeyChange, KeyStore, KeyWithSecret, NewKey } from './key-store.ts';

const PAGE = 100;

/** All changes of API keys: each is in the audit log when its promise resolves. */
export class KeyService {
  readonly #keys: KeyStore;
  readonly #accounts: Pick<AccountReader, 'findNow'>;
  readonly #audit: AuditLog;

  constructor(deps: { keys: KeyStore; accounts: Pick<AccountReader, 'findNow'>; audit: AuditLog }) {
    this.#keys = deps.keys;
    this.#accounts = deps.accounts;
    this.#audit = deps.audit;
  }

  /**
   * @param account as the request was authenticated with it.
   * @param capacity keys of the account that may be active at a time.
   * @throws PlatenError KEY_CAPACITY; UNAUTHENTICATED when the account has had another owner since; the database's
   * duplicate-key error when a given secret is another key's.
   */
  async create(
    { _id: accountId, ownerFence }: Pick<Account, '_id' | 'ownerFence'>,
    fields: NewKey,
    by: DoneBy,
    capacity?: number,
  ): Promise<KeyWithSecret> {
    const made = await this.#keys.create(
      accountId,
      { ...fields, ownerFence, createdBy: by.personId },
      capacity,
    );
    await this.#requireOwner(made);
    const { name, mode, prefix } = made.key;
    await this.#record(made.key, 'key.created', by, { name, mode, prefix });
    return made;
  }

  /** @throws PlatenError NOT_FOUND when the account has no such active key; UNAUTHENTICATED as `create`. */
  async rotate(accountId: string, keyId: string, by: DoneBy): Promise<KeyWithSecret> {
    const made = await this.#keys.rotate(accountId, keyId, by.personId);
    await this.#requireOwner(made);
    const { name, prefix } = made.key;
    await this.#record(made.key, 'key.rotated', by, { name, replaced: keyId, prefix });
    return made;
  }

  /** @throws PlatenError NOT_FOUND when the account has no such active key. */
  async change(accountId: string, keyId: string, change: KeyChange, by: DoneBy): Promise<ApiKey> {
    const key = await this.#keys.change(accountId, keyId, change);
    const { allowedIps } = change;
    await this.#record(key, 'key.changed', by, {
      name: key.name,
      ...(allowedIps !== undefined && { allowedIps: allowedIps.join(', ') }),
    });
    return key;
  }

  /** Revoked again, it stays as it is. @throws PlatenError NOT_FOUND when the account has no such key. */
  async revoke(accountId: string, keyId: string, by: DoneBy): Promise<ApiKey> {
    const { key, changed } = await this.#keys.revoke(accountId, keyId);
    if (changed) await this.#record(key, 'key.revoked', by, { name: key.name, prefix: key.prefix });
    return key;
  }

  /** Revokes the API keys of whoever had the account before. @returns the number of keys that were active until now. */
  async revokeBefore(accountId: string, ownerFence: number, by: DoneBy): Promise<number> {
    const active = { status: 'active', sort: 'created_asc', limit: PAGE } as const;
    let revoked = 0;
    for (let offset = 0; ; ) {
      const { keys } = await this.#keys.list(accountId, { ...active, offset });
      const old = keys.filter((key) => (key.ownerFence ?? 0) < ownerFence);
      for (const { _id } of old) await this.revoke(accountId, _id, by);
      revoked += old.length;
      if (keys.length < PAGE) return revoked;
      offset += keys.length - old.length;
    }
  }

  /** A key of an earlier owner is not valid, whenever it was made: not shown as active, not given out. */
  async #requireOwner({ key: { _id, accountId, ownerFence } }: KeyWithSecret): Promise<void> {
    if ((await this.#accounts.findNow(accountId))?.ownerFence === ownerFence) return;
    await this.#keys.revoke(accountId, _id);
    throw new PlatenError('UNAUTHENTICATED');
  }

  #record(key: ApiKey, action: AuditAction, by: DoneBy, details: Record<string, string>): Promise<void> {
    return this.#audit.record({ accountId: key.accountId, action, ...by, targetId: key._id, details });
  }
}
