import { randomBytes } from 'node:crypto';
import { type Connection, mongo } from 'mongoose';
import type { Clock } from '../../../infra/clock.ts';
import { PlatenError } from '../../../infra/errors/registry.ts';
import { Collection } from '../../../infra/store/collection.ts';
import type { CollectionSpec } from '../../../infra/store/collection-spec.ts';
import { DUE_INDEX, type Due, DueQueue } from '../../../infra/store/due-queue.ts';
import type { StoredBytes } from '../../jobs/ledger/stored-bytes.ts';

/** The files whose rows are rendered, until they are read. Due when they are to be deleted. */
const SOURCE_FILES: CollectionSpec = {
  name: 'source_files',
  account: { step: 'batches' },
  indexes: [
    DUE_INDEX,
    // Unique because it contains the id (docs/decisions/0178).
    { fields: { accountId: 1, _id: 1 }, unique: 'embedded' },
  ],
};
const SOURCE_PARTS: CollectionSpec = { name: 'source_parts', account: { step: 'batches' } };

/** The largest file, in bytes. What the plan stores bounds it as well. */
export const MAX_SOURCE_BYTES = 256 * 1024 * 1024;
/** Bytes that are held in memory at a time. */
export const PART_BYTES = 256 * 1024;
const NUMBER_DIGITS = 6;
/** How long an upload is kept that no batch uses, in milliseconds. */
const UNUSED_MS = 24 * 3_600_000;
/** How long the file of a batch is kept beyond its deadline at most, in milliseconds; usually it is deleted once it is read. */
const LEFT_MS = 3_600_000;
/** Files that one query finds. */
const PAGE = 100;

export interface SourceFile extends Due {
  /** Of an upload, or of the batch that has fetched it. */
  readonly _id: string;
  readonly accountId: string;
  /** Whether it was uploaded with a test key. */
  readonly test: boolean;
  /** Bytes that are stored, all of them counted against what the account may store. */
  readonly bytes: number;
  readonly createdAt: Date;
  /** Names the parts of the whole file; absent while it is being received. */
  readonly writer?: string;
  /** The batch that renders it. */
  readonly batchId?: string;
}

interface Part {
  /** `<file>/<writer>/<number>` */
  readonly _id: string;
  readonly content: mongo.Binary;
}

/** Keeps the files of batches in parts, so that a file is never in memory as a whole. */
export class SourceFiles {
  readonly #files: DueQueue<SourceFile>;
  readonly #records: Collection<SourceFile>;
  readonly #parts: Collection<Part>;
  readonly #stored: Pick<StoredBytes, 'take' | 'giveBack'>;
  readonly #clock: Clock;

  /** To be created before the connection's indexes. */
  constructor(connection: Connection, clock: Clock, stored: Pick<StoredBytes, 'take' | 'giveBack'>) {
    this.#records = new Collection<SourceFile>(connection, SOURCE_FILES);
    this.#files = new DueQueue(this.#records, clock);
    this.#parts = new Collection<Part>(connection, SOURCE_PARTS);
    this.#stored = stored;
    this.#clock = clock;
  }

  /**
   * Stores a file as it arrives. A file of this id that was received in part before is replaced.
   *
   * @param maxStoredBytes that the account may store.
   * @throws PlatenError INPUT_TOO_LARGE or STORAGE_FULL; these and the errors of `content` leave nothing behind.
   */
  async keep(
    { _id, accountId, test }: Pick<SourceFile, '_id' | 'accountId' | 'test'>,
    maxStoredBytes: number,
    content: AsyncIterable<Buffer>,
  ): Promise<SourceFile> {
    const earlier = await this.#records.findById(_id);
    if (earlier !== undefined) await this.delete(earlier);
    const writer = randomBytes(4).toString('hex');
    const createdAt = this.#clock.now();
    const dueAt = new Date(createdAt.getTime() + UNUSED_MS);
    await this.#files.schedule(_id, dueAt, { $set: { accountId, test, createdAt, bytes: 0 } });
    try {
      let number = 0;
      let bytes = 0;
      for await (const part of inParts(content)) {
        bytes += part.length;
        if (bytes > MAX_SOURCE_BYTES)
          throw new PlatenError('INPUT_TOO_LARGE', `The file is larger than ${MAX_SOURCE_BYTES} bytes.`);
        if (!(await this.#stored.take(accountId, { bytes: part.length, max: maxStoredBytes })))
          throw new PlatenError('STORAGE_FULL', 'The file takes more storage than the account has left.');
        await this.#records.updateOne({ _id }, { $inc: { bytes: part.length } });
        await this.#parts.insert({ _id: partId(_id, writer, number), content: new mongo.Binary(part) });
        number += 1;
      }
    } catch (error) {
      const begun = await this.#records.findById(_id);
      if (begun !== undefined) await this.delete(begun);
      throw error;
    }
    const whole = await this.#records.findOneAndUpdate({ _id }, { $set: { writer } });
    if (whole === undefined)
      throw new PlatenError('UNAVAILABLE', 'The file was deleted while it was received.');
    return whole;
  }

  find(id: string): Promise<SourceFile | undefined> {
    return this.#records.findById(id);
  }

  /**
   * Gives an upload to a batch. Repeated for a batch, it changes nothing.
   *
   * @returns undefined when the account has no such upload, or another batch has it.
   */
  async use(
    id: string,
    { accountId, test }: Pick<SourceFile, 'accountId' | 'test'>,
    batchId: string,
    deadline: Date,
  ): Promise<SourceFile | undefined> {
    const file = await this.#records.findById(id);
    if (file?.writer === undefined || file.accountId !== accountId || file.test !== test) return undefined;
    if (file.batchId !== undefined && file.batchId !== batchId) return undefined;
    const dueAt = new Date(deadline.getTime() + LEFT_MS);
    return this.#records.findOneAndUpdate(
      { _id: id, fence: file.fence ?? null, batchId: file.batchId ?? null } as mongo.Filter<SourceFile>,
      { $set: { batchId, dueAt } },
    );
  }

  /** Gives an upload back that a batch was to render which was not accepted. */
  async release(id: string, batchId: string): Promise<void> {
    await this.#records.updateOne({ _id: id, batchId }, { $unset: { batchId: '' } });
  }

  /** Its bytes from a place on. @throws Error when it is no longer kept. */
  async *read({ _id, writer = '', bytes }: SourceFile, offset: number): AsyncGenerator<Buffer> {
    let skip = offset % PART_BYTES;
    for (let number = Math.floor(offset / PART_BYTES); number * PART_BYTES < bytes; number += 1) {
      const part = await this.#parts.findById(partId(_id, writer, number));
      if (part === undefined) throw new Error(`Part ${number} of the source ${_id} is not kept.`);
      yield Buffer.from(part.content.value()).subarray(skip);
      skip = 0;
    }
  }

  /** Deletes a file and gives its storage back. Deleting a missing one changes nothing. */
  async delete({ _id, accountId }: Pick<SourceFile, '_id' | 'accountId'>): Promise<void> {
    // `0` is the character after `/`.
    await this.#parts.deleteMany({ _id: { $gte: `${_id}/`, $lt: `${_id}0` } });
    const found = await this.#records.findById(_id);
    if (
      found !== undefined &&
      (await this.#records.deleteOne({ _id, fence: found.fence ?? null } as mongo.Filter<SourceFile>))
    )
      await this.#stored.giveBack(accountId, found.bytes);
  }

  /** Deletes uploads that no batch has used, and what batches have left. @returns their number. */
  async deleteDue(): Promise<number> {
    const due = await this.#files.due(PAGE);
    for (const file of due) await this.delete(file);
    return due.length;
  }

  /** Deletes the files of an account. @returns false when some are left. */
  async deleteOf(accountId: string): Promise<boolean> {
    const found = await this.#records.find({ accountId }, { limit: PAGE });
    for (const file of found) await this.delete(file);
    return found.length < PAGE;
  }

  /** Bytes that an account's files take. */
  async storedBytes(accountId: string): Promise<number> {
    const group = { $group: { _id: null, bytes: { $sum: '$bytes' } } };
    return (await this.#records.aggregate<{ bytes: number }>({ accountId }, [group]))[0]?.bytes ?? 0;
  }
}

function partId(file: string, writer: string, number: number): string {
  return `${file}/${writer}/${String(number).padStart(NUMBER_DIGITS, '0')}`;
}

/** Joins and cuts what arrives, so that each part but the last has the same size. */
async function* inParts(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const piece of content) {
    let rest = piece;
    while (bytes + rest.length >= PART_BYTES) {
      const taken = rest.subarray(0, PART_BYTES - bytes);
      rest = rest.subarray(taken.length);
      yield Buffer.concat([...held, taken]);
      held = [];
      bytes = 0;
    }
    if (rest.length === 0) continue;
    held.push(rest);
    bytes += rest.length;
  }
  if (bytes > 0) yield Buffer.concat(held);
}
