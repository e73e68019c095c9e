import { LRUCache } from 'lru-cache';
import type { JobCollections, StoredInput } from './collections.ts';

/** Bytes of inputs that are read before they are needed. */
const PREFETCHED_BYTES = 4 * 1024 * 1024;
/** Milliseconds after which other workers have claimed a job whose input has not been needed here. */
const KEPT_MS = 10_000;
/** Bytes up to which an input counts as small, without shared parts. */
const SMALL_BYTES = 16 * 1024;
const REMEMBERED_ACCOUNTS = 1000;

/** Jobs of the same account whose inputs will probably be needed next. */
export interface NextJobs {
  readonly accountId: string;
  /** A few ids of such jobs. Called only when they are looked up. */
  ids(): readonly string[];
}

/**
 * Reads the stored inputs of jobs. If the last input of an account was small, the same query also reads the inputs of
 * its next jobs. An input never changes, so a prefetched one is always valid.
 */
export class PrefetchedInputs {
  readonly #inputs: JobCollections['inputs'];
  readonly #prefetched = new LRUCache<string, StoredInput>({
    maxSize: PREFETCHED_BYTES,
    sizeCalculation: ({ content }) => content.length() + 1,
    ttl: KEPT_MS,
  });
  /** Accounts whose last input was small and shares its markup. */
  readonly #withSmallInputs = new LRUCache<string, true>({ max: REMEMBERED_ACCOUNTS });

  constructor(inputs: JobCollections['inputs']) {
    this.#inputs = inputs;
  }

  /** @returns undefined when the input is not stored (any more). */
  async find(jobId: string, next?: NextJobs): Promise<StoredInput | undefined> {
    const known = this.#prefetched.get(jobId);
    this.#prefetched.delete(jobId);
    if (known !== undefined) return known;
    const others = next !== undefined && this.#withSmallInputs.has(next.accountId) ? next.ids() : [];
    const found =
      others.length === 0
        ? [await this.#inputs.findById(jobId)]
        : await this.#inputs.find({ _id: { $in: [jobId, ...others] } });
    const stored = found.find((input) => input?._id === jobId);
    for (const input of found) {
      if (input !== undefined && input !== stored) this.#prefetched.set(input._id, input);
    }
    if (stored !== undefined) this.#noteSize(stored);
    return stored;
  }

  #noteSize({ accountId, content, shared }: StoredInput): void {
    if (shared?.markup !== undefined && content.length() <= SMALL_BYTES)
      this.#withSmallInputs.set(accountId, true);
    else this.#withSmallInputs.delete(accountId);
  }
}
