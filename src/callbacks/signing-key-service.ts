import type { AuditLog, DoneBy } from '../audit/audit-log.ts';
import type { SigningKey, SigningKeys } from './signing-keys.ts';

/** What is done to the keys that sign callbacks, by whomever: every change is in the audit log when it resolves. */
export class SigningKeyService {
  readonly #keys: SigningKeys;
  readonly #audit: AuditLog;

  constructor(parts: { keys: SigningKeys; audit: AuditLog }) {
    this.#keys = parts.keys;
    this.#audit = parts.audit;
  }

  /** The keys that sign at the moment, the newest first; none while the account has had none. */
  list(accountId: string): Promise<readonly SigningKey[]> {
    return this.#keys.list(accountId);
  }

  /**
   * Makes a new key; those before it sign for 24 hours more.
   *
   * @returns the new one.
   * @throws PlatenError UNAVAILABLE when others rotate at the same moment, again and again.
   */
  async rotate(accountId: string, by: DoneBy): Promise<SigningKey> {
    const key = await this.#keys.rotate(accountId);
    await this.#audit.record({ accountId, action: 'webhook_key.rotated', ...by, targetId: key.id });
    return key;
  }
}
