import { PDFDocument } from '@cantoo/pdf-lib';
import { DEFAULT_POOL, type JobPointer, type Slot, type Subscription } from '../../../../src/bus/bus.ts';
import type { PlatenError } from '../../../../src/errors/registry.ts';
import { loadInput } from '../../../../src/jobs/inputs.ts';
import type { Job, JobInput } from '../../../../src/jobs/job.ts';
import { type OutputStore, outputKey } from '../../../../src/store/outputs/output-store.ts';
import type { Domain } from '../../../support/domain.ts';

const LEASE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** What a render comes to: a PDF of so many pages, a fault, or a fault that another attempt follows. */
export type Outcome = { pages: number } | { fails: PlatenError } | { retries: PlatenError };

/**
 * Takes jobs through their real life, but prints them by hand: a test says what each render comes to, and when.
 */
export class HandWorker {
  readonly #domain: Domain;
  readonly #outputs: OutputStore;
  #subscription: Subscription | undefined;
  /** Called for every claimed job; a test sets it. */
  render: (job: Job, input: JobInput) => Promise<Outcome> = async () => ({ pages: 1 });

  constructor(domain: Domain, outputs: OutputStore) {
    this.#domain = domain;
    this.#outputs = outputs;
  }

  async start(): Promise<void> {
    const slot: Slot = { release: () => undefined };
    this.#subscription = await this.#domain.bus.consumePointers(DEFAULT_POOL, {
      reserve: async () => slot,
      accept: async (pointer) => {
        const claimed = await this.claim(pointer);
        if (claimed !== undefined) void this.#finish(claimed);
      },
    });
  }

  async stop(): Promise<void> {
    await this.#subscription?.stop();
    this.#subscription = undefined;
  }

  claim(pointer: JobPointer): Promise<Job | undefined> {
    return this.#domain.lifecycle.claim(
      { _id: pointer.jobId, version: pointer.version },
      'by hand',
      LEASE_MS,
    );
  }

  async #finish(claimed: Job): Promise<void> {
    const { collections, lifecycle, dispatch } = this.#domain;
    const input = await loadInput(collections, claimed._id);
    if (input === undefined) throw new Error('a job without its input');
    const outcome = await this.render(claimed, input);
    let moved: Job | undefined;
    if ('pages' in outcome) moved = await this.#complete(claimed, outcome.pages);
    else if ('fails' in outcome) moved = await lifecycle.fail(claimed, outcome.fails);
    else moved = await lifecycle.retryLater(claimed, outcome.retries, HOUR_MS);
    if (moved !== undefined) await dispatch.settle(moved);
  }

  async #complete(claimed: Job, pages: number): Promise<Job | undefined> {
    const pdf = await pdfOf(pages);
    const expiresAt = new Date(this.#domain.clock.now().getTime() + claimed.retentionHours * HOUR_MS);
    const key = outputKey(claimed._id, claimed.version, expiresAt);
    await this.#outputs.put(key, pdf);
    const output = { key, size: pdf.byteLength, pages, sha256: '0'.repeat(64) };
    return this.#domain.lifecycle.complete(claimed, output, expiresAt);
  }
}

async function pdfOf(pages: number): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  for (let page = 0; page < pages; page += 1) document.addPage();
  return document.save();
}

/** A promise that a test settles. */
export function latch(): { readonly opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}
