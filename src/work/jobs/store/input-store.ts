import { LRUCache } from 'lru-cache';
import type { Job, JobInput } from '../job.ts';
import type { JobCollections, StoredChunk, StoredInput } from './collections.ts';
import { type NextJobs, PrefetchedInputs } from './prefetched-inputs.ts';
import { type ChunkName, completed } from './shared-chunks.ts';
import { isInRecord, parsedInput } from './stored-input.ts';

/** Bytes of shared chunks that a process remembers, so that a chunk is read once for all items of a batch. */
const REMEMBERED_CHUNK_BYTES = 32 * 1024 * 1024;

/** The documents to render, each read once: in the records of live jobs if they are small, otherwise in their own. */
export class JobInputs {
  readonly #inputs: JobCollections['inputs'];
  readonly #chunks: JobCollections['chunks'];
  readonly #live: JobCollections['live'];
  readonly #stored: PrefetchedInputs;
  readonly #remembered: LRUCache<string, string>;

  constructor({ inputs, chunks, live }: JobCollections) {
    this.#inputs = inputs;
    this.#chunks = chunks;
    this.#live = live;
    this.#stored = new PrefetchedInputs(inputs);
    this.#remembered = new LRUCache({
      maxSize: REMEMBERED_CHUNK_BYTES,
      sizeCalculation: (text) => 2 * text.length + 1,
      // Concurrent callers share one read.
      fetchMethod: async (id) => textOf(await chunks.findById(id)),
    });
  }

  /**
   * To be called before the jobs are written. Inputs that an earlier attempt of the same request has saved become this
   * attempt's: a sweep that undoes the earlier one no longer deletes them.
   *
   * @param chunks the chunks that the inputs share.
   */
  async save(inputs: readonly StoredInput[], chunks: readonly StoredChunk[] = []): Promise<void> {
    await this.#chunks.insertAbsent(chunks);
    if (await this.#inputs.insertAbsent(inputs)) return;
    const ids = inputs.map(({ _id }) => _id);
    const createdAt = new Date(Math.max(...inputs.map((input) => input.createdAt.getTime())));
    const there = await this.#inputs.updateMany({ _id: { $in: ids } }, { $max: { createdAt } });
    // Deleted in between.
    if (there < inputs.length) await this.#inputs.insertAbsent(inputs);
  }

  /** @param next jobs whose inputs this process is likely to load next. */
  async load(jobId: string, next?: NextJobs): Promise<JobInput | undefined> {
    const stored = await this.#stored.find(jobId, next);
    if (stored === undefined) return this.#inRecord(jobId);
    const { shared = {} } = stored;
    const own = parsedInput(stored);
    const found: Partial<Record<ChunkName, string>> = {};
    for (const [name, id] of Object.entries(shared) as [ChunkName, string][]) {
      const text = await this.#remembered.fetch(id);
      if (text === undefined) return undefined;
      found[name] = text;
    }
    return completed(own, found);
  }

  /** Whether the input of a job is still stored. */
  async has(job: Pick<Job, '_id' | 'item' | 'inputBytes'>): Promise<boolean> {
    if ((await this.#inputs.findById(job._id, { _id: 1 })) !== undefined) return true;
    return isInRecord(job) && (await this.#live.findById(job._id, { _id: 1 })) !== undefined;
  }

  /** The text of a shared chunk; undefined when it is not kept. */
  chunkText(id: string): Promise<string | undefined> {
    return this.#remembered.fetch(id);
  }

  async #inRecord(jobId: string): Promise<JobInput | undefined> {
    const job = await this.#live.findById(jobId, { accountId: 1, createdAt: 1, input: 1 });
    return job?.input && parsedInput({ ...job, content: job.input });
  }

  async delete(jobIds: readonly string[]): Promise<void> {
    if (jobIds.length > 0) await this.#inputs.deleteMany({ _id: { $in: [...jobIds] } });
  }

  /**
   * Deletes what an attempt has saved that was given up, unless a later attempt of the same request has saved it since.
   *
   * @param since when the attempt reserved what it needed: after it had made its inputs.
   */
  async deleteAbandoned(jobIds: readonly string[], since: number): Promise<void> {
    if (jobIds.length === 0) return;
    await this.#inputs.deleteMany({ _id: { $in: [...jobIds] }, createdAt: { $lte: new Date(since) } });
  }

  /** Deletes shared chunks that no input needs any more. */
  async deleteChunks(chunkIds: readonly string[]): Promise<void> {
    if (chunkIds.length > 0) await this.#chunks.deleteMany({ _id: { $in: [...chunkIds] } });
  }
}

function textOf(chunk: StoredChunk | undefined): string | undefined {
  return chunk && Buffer.from(chunk.content.value()).toString();
}
