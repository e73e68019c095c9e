import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { PlatenError } from '../../infra/errors/registry.ts';
import { withoutExtension } from '../../infra/outputs/file-name.ts';
import type { OutputStore } from '../../infra/outputs/output-store.ts';
import type { PdfMerger } from '../../render/pdf/merge.ts';
import type { JobOutput } from '../jobs/job.ts';
import { type Batch, pendingOf } from './batch.ts';
import type { Item } from './batch-item.ts';
import { type BatchService, goneError } from './batch-service.ts';
import { UniqueNames } from './unique-names.ts';
import { type ByteRange, type ZipEntry, zipSize, zipStream } from './zip.ts';

/** An item, and the name of its PDF, which is unique in the batch. */
export interface NamedItem extends Item {
  readonly name: string;
}

/** A zip of the completed items of a batch, not read yet. */
export interface BatchZip {
  /** Bytes. */
  readonly size: number;
  /** PDFs in the zip. */
  readonly items: number;
  /** Items of the batch that have not ended, and may be in a later zip. */
  readonly pending: number;
  /** Identifies exactly these bytes. */
  readonly etag: string;
  open(range?: ByteRange): Readable;
}

interface PackedItem extends ZipEntry {
  readonly output: JobOutput;
  /** The caller's own id of the item. */
  readonly id: string;
  readonly isProtected: boolean;
}

/** Files that combine the items of a batch. They are not stored, but generated while they are read. */
export class BatchFiles {
  readonly #batches: BatchService;
  readonly #outputs: OutputStore;
  readonly #merger: PdfMerger;

  constructor(batches: BatchService, outputs: OutputStore, merger: PdfMerger) {
    this.#merger = merger;
    this.#batches = batches;
    this.#outputs = outputs;
  }

  /** The completed items, in order. @throws PlatenError GONE after the retention; NOT_FOUND while none is completed. */
  async zip(batch: Batch): Promise<BatchZip> {
    const entries = await this.#completed(batch);
    return {
      size: zipSize(entries),
      items: entries.length,
      pending: pendingOf(batch),
      etag: etagOf(entries),
      open: (range) => zipStream(entries, ({ output }) => this.#open(output), range),
    };
  }

  /**
   * One PDF of the completed items in the batch's order, with a bookmark for each.
   *
   * @throws PlatenError as `zip`; NOT_MERGEABLE when the PDF of one of them is encrypted or sealed.
   */
  async merged(batch: Batch) {
    const entries = await this.#completed(batch);
    const closed = entries.find(({ isProtected, output }) => isProtected || output.isSealed);
    if (closed !== undefined) {
      const how = closed.isProtected ? 'protected' : 'sealed';
      const message = `The PDF of the item "${closed.id}" is ${how}, so it cannot be merged with others.`;
      throw new PlatenError('NOT_MERGEABLE', message, { jobId: batch._id });
    }
    const sources = entries.map(({ name, output }) => ({
      title: withoutExtension(name),
      bytes: output.size,
      read: async () => await buffer(await this.#open(output)),
    }));
    return {
      items: entries.length,
      pending: pendingOf(batch),
      /** @param signal aborts when the caller has disconnected. */
      open: (signal: AbortSignal) => this.#merger.merge(sources, { account: batch.accountId, signal }),
    };
  }

  /** All items in the batch's order, read by chunks. An item's name does not depend on others' outcomes. */
  async *items(batch: Batch): AsyncGenerator<NamedItem> {
    const names = new UniqueNames();
    const { total, chunkSize: limit } = batch;
    for (let offset = 0; offset < total; offset += limit) {
      for (const item of await this.#batches.items(batch, { offset, limit })) {
        yield { ...item, name: names.take(item.item.fileName) };
      }
    }
  }

  async #completed(batch: Batch): Promise<PackedItem[]> {
    if (this.#batches.accessExpired(batch)) throw goneError(batch);
    const found: PackedItem[] = [];
    for await (const { name, item, job } of this.items(batch)) {
      if (job === undefined || job.output === null) continue;
      const { output, completedAt, updatedAt, isProtected = false } = job;
      const date = completedAt ?? updatedAt;
      found.push({ name, output, size: output.size, date, id: item.id, isProtected });
    }
    if (found.length === 0)
      throw new PlatenError('NOT_FOUND', 'No item of the batch is completed.', { jobId: batch._id });
    return found;
  }

  async #open({ key, size }: JobOutput): Promise<Readable> {
    const stored = await this.#outputs.get(key);
    if (stored?.size === size) return stored.stream;
    stored?.stream.destroy();
    throw new Error(`The output ${key} was deleted while it was to be packed.`);
  }
}

/** Differs whenever the bytes differ. */
function etagOf(entries: readonly PackedItem[]): string {
  const hash = createHash('sha256').update('zip 1');
  for (const { name, date, output } of entries) {
    hash.update(JSON.stringify([name, date.getTime(), output.size, output.sha256]));
  }
  return `"${hash.digest('hex').slice(0, 32)}"`;
}
