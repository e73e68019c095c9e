import { LRUCache } from 'lru-cache';
import type { JobInput } from '../job.ts';
import type { JobCollections, StoredInput, StoredPart } from './collections.ts';
import { completed, type PartOf } from './shared-parts.ts';

/** Bytes of shared parts that a process remembers: what the items of a batch share is read once, not by each of them. */
const REMEMBERED_PART_BYTES = 32 * 1024 * 1024;
/** The same of inputs that came before they were asked for. */
const EARLY_BYTES = 4 * 1024 * 1024;
/** Jobs that have been asked for in vain, by others, need not be remembered for longer. Milliseconds. */
const EARLY_MS = 10_000;
/** What is left of an input without what it shares is small up to here. Bytes. */
const SMALL_BYTES = 16 * 1024;
const REMEMBERED_ACCOUNTS = 1000;

/** Jobs of the same account that will be asked for soon. */
export interface SoonWanted {
  readonly accountId: string;
  /** Their ids, a few of them. Called only when they are looked up. */
  ids(): readonly string[];
}

/** The documents to render, each read once. They are kept apart from the state of their jobs, which is read often. */
export class JobInputs {
  readonly #inputs: JobCollections['inputs'];
  readonly #parts: JobCollections['parts'];
  readonly #remembered: LRUCache<string, string>;
  readonly #early = new LRUCache<string, StoredInput>({
    maxSize: EARLY_BYTES,
    sizeCalculation: ({ content }) => content.length() + 1,
    ttl: EARLY_MS,
  });
  /** Accounts whose input that was read last was a small one that shares its markup. */
  readonly #alike = new LRUCache<string, true>({ max: REMEMBERED_ACCOUNTS });

  constructor({ inputs, parts }: JobCollections) {
    this.#inputs = inputs;
    this.#parts = parts;
    this.#remembered = new LRUCache({
      maxSize: REMEMBERED_PART_BYTES,
      sizeCalculation: (text) => 2 * text.length + 1,
      // Items that begin together wait for one read.
      fetchMethod: async (id) => textOf(await parts.findById(id)),
    });
  }

  /**
   * Saved before the jobs they belong to. One that was saved by an earlier try of the same request stays as it is.
   *
   * @param parts what they share.
   */
  async save(inputs: readonly StoredInput[], parts: readonly StoredPart[] = []): Promise<void> {
    await this.#parts.insertAbsent(parts);
    await this.#inputs.insertAbsent(inputs);
  }

  /**
   * @param soon who are likely to be asked for next, by this process: where one small input came, theirs come in the same
   * look-up. An input never changes, so none can be out of date.
   */
  async load(jobId: string, soon?: SoonWanted): Promise<JobInput | undefined> {
    const stored = await this.#find(jobId, soon);
    if (stored === undefined) return undefined;
    const { _id, accountId, createdAt, content, shared = {} } = stored;
    const own = { ...JSON.parse(Buffer.from(content.value()).toString()), _id, accountId, createdAt };
    const found: Partial<Record<PartOf, string>> = {};
    for (const [part, id] of Object.entries(shared) as [PartOf, string][]) {
      const text = await this.#remembered.fetch(id);
      if (text === undefined) return undefined;
      found[part] = text;
    }
    return completed(own, found);
  }

  async #find(jobId: string, soon: SoonWanted | undefined): Promise<StoredInput | undefined> {
    const known = this.#early.get(jobId);
    this.#early.delete(jobId);
    if (known !== undefined) return known;
    const others = soon !== undefined && this.#alike.has(soon.accountId) ? soon.ids() : [];
    const found =
      others.length === 0
        ? [await this.#inputs.findById(jobId)]
        : await this.#inputs.find({ _id: { $in: [jobId, ...others] } });
    const stored = found.find((one) => one?._id === jobId);
    for (const one of found) if (one !== undefined && one !== stored) this.#early.set(one._id, one);
    if (stored !== undefined) this.#noteSize(stored);
    return stored;
  }

  #noteSize({ accountId, content, shared }: StoredInput): void {
    if (shared?.markup !== undefined && content.length() <= SMALL_BYTES) this.#alike.set(accountId, true);
    else this.#alike.delete(accountId);
  }

  async delete(jobIds: readonly string[]): Promise<void> {
    if (jobIds.length > 0) await this.#inputs.deleteMany({ _id: { $in: [...jobIds] } });
  }

  /** Deletes what inputs have shared, once none of them is needed any more. */
  async deleteParts(partIds: readonly string[]): Promise<void> {
    if (partIds.length > 0) await this.#parts.deleteMany({ _id: { $in: [...partIds] } });
  }
}

function textOf(part: StoredPart | undefined): string | undefined {
  return part && Buffer.from(part.content.value()).toString();
}
