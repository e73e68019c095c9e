import { PDFDocument } from '@cantoo/pdf-lib';
import { PlatenError } from '../../../../src/infra/errors/registry.ts';
import { PDF } from '../../../../src/infra/outputs/media-type.ts';
import type { OutputStore } from '../../../../src/infra/outputs/output-store.ts';
import type { JobRenderer, JobRequest } from '../../../../src/render/renderer.ts';
import type { Job, JobInput } from '../../../../src/work/jobs/job.ts';
import type { Worker } from '../../../../src/worker/worker.ts';
import type { Domain } from '../../../support/domain.ts';
import { workerOf } from '../../../support/worker.ts';

const SLOTS = 16;
const LEASE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** The phases of a render in milliseconds, as a renderer measures them. */
export const RENDERED_PHASES = { page: 1, load: 2.4, wait: 0, print: 3, finish: 4 };
/** Of a failed attempt. */
export const FAILED_PHASES = { page: 1.4, load: 20.6, wait: 300, print: 0, finish: 0 };

/** The result of a render: a PDF with a number of pages (or given bytes), an error, or an error with a retry after an hour. */
export type Outcome = { pages: number; pdf?: Uint8Array } | { fails: PlatenError } | { retries: PlatenError };

/** The real worker with a renderer of the test, which decides the result of each render, and when it ends. */
export class TestWorker {
  readonly #domain: Domain;
  readonly #outputs: OutputStore;
  #worker: Worker | undefined;
  /** Called for each render; a test sets it. */
  render: (job: Job, input: JobInput, request: JobRequest) => Promise<Outcome> = async () => ({
    pages: 1,
  });

  constructor(domain: Domain, outputs: OutputStore) {
    this.#domain = domain;
    this.#outputs = outputs;
  }

  async start(): Promise<void> {
    this.#worker = workerOf(this.#domain, SLOTS, {
      ...{ outputs: this.#outputs, renderer: this.#renderer() },
      ...{ owner: 'test worker', leaseMs: LEASE_MS, retryBaseMs: HOUR_MS },
    });
    await this.#worker.start();
  }

  /** Accepts no more jobs; running ones are finished or given back within `graceMs` milliseconds. */
  async stop(graceMs = 0): Promise<void> {
    await this.#worker?.stop(graceMs);
    this.#worker = undefined;
  }

  async #outcomeOf(request: JobRequest): Promise<Outcome> {
    const { jobId } = request;
    const { live, inputs } = this.#domain.store;
    const [job, input] = await Promise.all([live.find(jobId), inputs.load(jobId)]);
    if (job === undefined || input === undefined)
      throw new Error('a job that is not there, or without its input');
    return this.render(job, input, request);
  }

  #renderer(): JobRenderer {
    return {
      render: async (request) => {
        const outcome = await Promise.race([this.#outcomeOf(request), stopped(request.signal)]);
        if (!('pages' in outcome)) request.onFailed?.({ phases: FAILED_PHASES }, undefined);
        if ('retries' in outcome) throw outcome.retries;
        if ('fails' in outcome) {
          const { code, message } = outcome.fails;
          throw new PlatenError(code, message, { permanent: true });
        }
        return {
          bytes: outcome.pdf ?? (await pdfOf(outcome.pages)),
          mediaType: PDF,
          pages: outcome.pages,
          report: { phases: RENDERED_PHASES },
        };
      },
      health: () => ({ ready: true, slots: SLOTS, busy: 0, browsers: 1, lastProgress: Date.now() }),
      close: async () => {},
    };
  }
}

/** Like the real renderer, ends a render at once when it is aborted. */
function stopped(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = () => reject(new PlatenError('CANCELLED'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
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
