import type { AuditLog, DoneBy } from '../audit/audit-log.ts';
import type { SigningKey, SigningKeys } from './signing-keys.ts';

/** Changes the keys that sign callbacks: every change is in the audit log when it resolves. */
export class SigningKeyService {
  readonly #keys: SigningKeys;
  readonly #audit: AuditLog;

  constructor(deps: { keys: SigningKeys; audit: AuditLog }) {
    this.#keys = deps.keys;
    this.#audit = deps.audit;
  }

  /** The keys that sign at the moment, the newest first; none until the account has had one. */
  list(accountId: string): Promise<readonly SigningKey[]> {
    return this.#keys.list(accountId);
  }

  /**
   * Makes a new key; earlier keys sign for 24 hours more.
   *
   * @returns the new one.
   * @throws PlatenError UNAVAILABLE when other processes keep rotating at the same moment.
   */
  async rotate(accountId: string, by: DoneBy): Promise<SigningKey> {
    const key = await this.#keys.rotate(accountId);
    await this.#audit.record({ accountId, action: 'webhook_key.rotated', ...by, targetId: key.id });
    return key;
  }
}
