import type { AuditAction, AuditLog, DoneBy } from '../audit/audit-log.ts';
import type { ApiKey, KeyChange, KeyStore, KeyWithSecret, NewKey } from './key-store.ts';

/** Keys that `revokeAll` reads at a time. */
const PAGE = 100;

/** All changes of API keys: each is in the audit log when its promise resolves. */
export class KeyService {
  readonly #keys: KeyStore;
  readonly #audit: AuditLog;

  constructor(deps: { keys: KeyStore; audit: AuditLog }) {
    this.#keys = deps.keys;
    this.#audit = deps.audit;
  }

  /**
   * @param capacity keys of the account that may be active at a time.
   * @throws PlatenError KEY_CAPACITY; the database's duplicate-key error when a given secret is another key's.
   */
  async create(accountId: string, fields: NewKey, by: DoneBy, capacity?: number): Promise<KeyWithSecret> {
    const made = await this.#keys.create(accountId, fields, capacity);
    const { name, mode, prefix } = made.key;
    await this.#record(made.key, 'key.created', by, { name, mode, prefix });
    return made;
  }

  /** Replaces an active key by a new one. @throws PlatenError NOT_FOUND when the account has no such active key. */
  async rotate(accountId: string, keyId: string, by: DoneBy): Promise<KeyWithSecret> {
    const made = await this.#keys.rotate(accountId, keyId);
    await this.#record(made.key, 'key.rotated', by, { replaced: keyId, prefix: made.key.prefix });
    return made;
  }

  /** @throws PlatenError NOT_FOUND when the account has no such active key. */
  async change(accountId: string, keyId: string, change: KeyChange, by: DoneBy): Promise<ApiKey> {
    const key = await this.#keys.change(accountId, keyId, change);
    const { name, allowedIps } = change;
    await this.#record(key, 'key.changed', by, {
      ...(name !== undefined && { name }),
      ...(allowedIps !== undefined && { allowedIps: allowedIps.join(', ') }),
    });
    return key;
  }

  /**
   * Revokes a key. Revoking it again changes nothing.
   *
   * @returns the revoked key.
   * @throws PlatenError NOT_FOUND when the account has no such key.
   */
  async revoke(accountId: string, keyId: string, by: DoneBy): Promise<ApiKey> {
    const { key, changed } = await this.#keys.revoke(accountId, keyId);
    if (changed) await this.#record(key, 'key.revoked', by, { prefix: key.prefix });
    return key;
  }

  /** Revokes every API key of an account, in force within a second. @returns the number of revoked keys. */
  async revokeAll(accountId: string, by: DoneBy): Promise<number> {
    let revoked = 0;
    for (;;) {
      const active = { status: 'active', sort: 'created_asc', limit: PAGE, offset: 0 } as const;
      const { keys } = await this.#keys.list(accountId, active);
      for (const { _id } of keys) await this.revoke(accountId, _id, by);
      revoked += keys.length;
      if (keys.length < PAGE) return revoked;
    }
  }

  #record(key: ApiKey, action: AuditAction, by: DoneBy, details: Record<string, string>): Promise<void> {
    return this.#audit.record({ accountId: key.accountId, action, ...by, targetId: key._id, details });
  }
}
