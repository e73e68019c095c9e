import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { PlatenError } from '../../infra/errors/registry.ts';
import { withoutExtension } from '../../infra/outputs/file-name.ts';
import type { OutputStore } from '../../infra/outputs/output-store.ts';
import type { PdfMerger } from '../../render/pdf/merge.ts';
import { hasEnded, type Job, type JobOutput, keptOutput } from '../jobs/job.ts';
import { type Batch, hasFinished, pendingOf } from './batch.ts';
import type { Item } from './batch-item.ts';
import type { BatchService } from './batch-service.ts';
import { UniqueNames } from './unique-names.ts';
import { type ByteRange, type ZipEntry, zipSize, zipStream } from './zip.ts';

/** An item, and the name of its PDF, which is unique in the batch. */
export interface NamedItem extends Item {
  readonly name: string;
}

/** A zip of PDFs, not read yet. */
export interface BatchZip {
  /** Bytes. */
  readonly size: number;
  /** PDFs in the zip. */
  readonly items: number;
  /** Jobs that have not ended, and may be in a later zip. */
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
  /** The number of the item in its batch, from 0; absent without a batch. */
  readonly index?: number;
}

/** Items that are merged into one PDF of several. */
export interface MergedPart {
  /** Counted from 1. */
  readonly number: number;
  readonly pages: number;
  readonly entries: readonly PackedItem[];
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
    return this.#packed(await this.#completed(batch), pendingOf(batch));
  }

  /** The PDFs of jobs that belong to no batch, in this order. @throws PlatenError NOT_FOUND when none of them has one. */
  zipOf(jobs: readonly Job[]): BatchZip {
    const names = new UniqueNames();
    const entries = jobs.flatMap((job) => packed(names.take(job.fileName), job, job._id) ?? []);
    if (entries.length === 0) throw new PlatenError('NOT_FOUND', 'None of these renders has a PDF.');
    return this.#packed(entries, jobs.filter(({ state }) => !hasEnded(state)).length);
  }

  #packed(entries: readonly PackedItem[], pending: number): BatchZip {
    return {
      size: zipSize(entries),
      items: entries.length,
      pending,
      etag: etagOf(entries),
      open: (range) => zipStream(entries, ({ output }) => this.#open(output), range),
    };
  }

  /**
   * One PDF of the completed items in the batch's order, with a bookmark for each.
   *
   * @param of one of the batch's parts; all completed items without it.
   * @throws PlatenError as `zip`, and as `parts`; NOT_MERGEABLE when the PDF of one of them is encrypted or sealed.
   */
  async merged(batch: Batch, of?: { readonly part: number; readonly pagesPerPart: number }) {
    const entries = of === undefined ? await this.#completed(batch) : await this.#partOf(batch, of);
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

  /**
   * The parts in which the PDFs of an ended batch are merged, each as long as it can be.
   *
   * @param pagesPerPart pages of a part at most, unless one item has more.
   * @throws PlatenError GONE after the retention; WRONG_STATE before the end of the batch, when items may still be added.
   */
  async *parts(batch: Batch, pagesPerPart: number): AsyncGenerator<MergedPart> {
    this.#batches.requireKept(batch);
    if (!hasFinished(batch))
      throw new PlatenError('WRONG_STATE', 'The batch has not ended.', { jobId: batch._id });
    let part: PackedItem[] = [];
    let pages = 0;
    const next = (number: number): MergedPart => ({ number, pages, entries: part });
    let number = 1;
    for await (const { name, item, job } of this.items(batch)) {
      const entry = job && packed(name, job, item.id);
      if (entry === undefined) continue;
      if (part.length > 0 && pages + entry.output.pages > pagesPerPart) {
        yield next(number);
        number += 1;
        part = [];
        pages = 0;
      }
      part.push({ ...entry, index: job!.item!.index });
      pages += entry.output.pages;
    }
    if (part.length > 0) yield next(number);
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

  async #partOf(
    batch: Batch,
    { part, pagesPerPart }: { readonly part: number; readonly pagesPerPart: number },
  ): Promise<readonly PackedItem[]> {
    for await (const { number, entries } of this.parts(batch, pagesPerPart))
      if (number === part) return entries;
    throw new PlatenError('NOT_FOUND', `The batch has no part ${part}.`, { jobId: batch._id });
  }

  async #completed(batch: Batch): Promise<PackedItem[]> {
    this.#batches.requireKept(batch);
    const found: PackedItem[] = [];
    for await (const { name, item, job } of this.items(batch)) {
      const entry = job && packed(name, job, item.id);
      if (entry !== undefined) found.push(entry);
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

/** A job's PDF under a name; undefined without one. @param id the caller's own. */
function packed(name: string, job: Job, id: string): PackedItem | undefined {
  const { completedAt, updatedAt, isProtected = false } = job;
  const kept = keptOutput(job);
  if (kept === null) return undefined;
  // Without its report: a batch may have 100,000 of them.
  const { report: _, einvoice: __, ...output } = kept;
  return { name, output, size: output.size, date: completedAt ?? updatedAt, id, isProtected };
}

/** Differs whenever the bytes differ. */
function etagOf(entries: readonly PackedItem[]): string {
  const hash = createHash('sha256').update('zip 1');
  for (const { name, date, output } of entries) {
    hash.update(JSON.stringify([name, date.getTime(), output.size, output.sha256]));
  }
  return `"${hash.digest('hex').slice(0, 32)}"`;
}
