import { type AssignedKey, isAssigned } from '../../render/seal/assigned-keys.ts';

interface Known {
  readonly keys: Promise<readonly AssignedKey[] | undefined>;
  /** Milliseconds of the same clock as `nowMs`. */
  readonly readAt: number;
}

/** How long a key is believed to be there, and to be away, in milliseconds. */
const BELIEVED_MS = 3000;
const DOUBTED_MS = 500;

/** Which keys of the operator the workers of pools have. */
export class SealKeys {
  readonly #read: (pool: string) => Promise<readonly AssignedKey[] | undefined>;
  /** As many as plans name. */
  readonly #pools = new Map<string, Known>();

  readonly #nowMs: () => number;

  /**
   * @param read resolves to undefined where it cannot be told which keys there are.
   * @param nowMs milliseconds of a clock that never goes back.
   */
  constructor(
    read: (pool: string) => Promise<readonly AssignedKey[] | undefined>,
    nowMs: () => number = () => performance.now(),
  ) {
    this.#read = read;
    this.#nowMs = nowMs;
  }

  /**
   * Whether a pool may seal for an account with a key: false is never older than half a second.
   *
   * @returns true also where it cannot be told.
   */
  async mayHave(keyId: string, { pool, accountId }: { readonly pool: string; readonly accountId: string }) {
    const has = (keys: readonly AssignedKey[] | undefined) =>
      keys?.some(({ name, accounts }) => name === keyId && isAssigned(accounts, accountId)) ?? true;
    return has(await this.#keysOf(pool, BELIEVED_MS)) || has(await this.#keysOf(pool, DOUBTED_MS));
  }

  async #keysOf(pool: string, maxAgeMs: number): Promise<readonly AssignedKey[] | undefined> {
    const known = this.#pools.get(pool);
    if (known !== undefined && this.#nowMs() - known.readAt <= maxAgeMs) return await known.keys;
    const keys = this.#read(pool);
    this.#pools.set(pool, { keys, readAt: this.#nowMs() });
    try {
      return await keys;
    } catch (error) {
      this.#pools.delete(pool);
      throw error;
    }
  }
}
