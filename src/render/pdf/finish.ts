import { extname } from 'node:path';
import { PlatenError } from '../../infra/errors/registry.ts';
import {
  createSandbox,
  type Sandbox,
  SandboxError,
  type SandboxLogger,
} from '../../infra/sandbox/sandbox-pool.ts';
import type { PrintedPages } from '../report/print-facts.ts';
import type { CheckedCms, SealCall, StampedCms } from '../seal/read-cms.ts';
import type { StampCall } from '../seal/timestamp.ts';
import { pageTreeCount } from './count-pages.ts';
import type { FinishCall } from './finish-main.ts';
import type { FinishedPdf, FinishStep } from './finish-step.ts';
import { pdfHeapMb } from './heap.ts';

interface FinishRequest {
  readonly steps: readonly FinishStep[];
  /** Milliseconds until the PDF must be finished, waiting included; default 60,000. */
  readonly timeoutMs?: number | undefined;
  /** The account of the document, for the fair queue of accounts. */
  readonly account?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The account of a document, and how long it may take. */
type FinishLimits = Pick<FinishRequest, 'account' | 'timeoutMs' | 'signal'>;

/** Work on PDFs that Chromium does not do: the steps of `src/render/pdf/steps`, and reading printed documents. */
export interface PdfFinisher {
  /**
   * Applies the steps; returns the same bytes, at once, when there are none. Links, outline and tags stay unchanged.
   *
   * Rejects with RENDER_TIMEOUT when the time is over, OUTPUT_TOO_LARGE when the document needs more memory than there
   * is, RENDER_FAILED when it cannot be read, and the signal's reason when that aborts.
   */
  finish(pdf: Uint8Array, request: FinishRequest): Promise<FinishedPdf>;
  /**
   * The number of pages: at once for a PDF as Chromium prints it, in a finisher's process for any other.
   *
   * Rejects as `finish`.
   */
  countPages(pdf: Uint8Array, limits?: FinishLimits): Promise<number>;
  /**
   * The named destinations of a document: the page of each, counted from 1.
   *
   * Rejects as `finish`.
   */
  destinations(pdf: Uint8Array, limits?: FinishLimits): Promise<Readonly<Record<string, number>>>;
  /**
   * The characters of a document that no font had, by page.
   *
   * Rejects as `finish`.
   */
  printedPages(pdf: Uint8Array, limits?: FinishLimits): Promise<PrintedPages>;
  /**
   * Reads a signature that somebody has sent. Without one that is good, its fault in words that follow "The signature".
   *
   * Rejects as `finish`.
   */
  checkCms(call: Exclude<SealCall, StampCall>, limits?: FinishLimits): Promise<CheckedCms>;
  /**
   * Puts a time stamp that somebody has sent into a signature. Without one that is good, its fault in words that follow
   * "The time stamp".
   *
   * Rejects as `finish`.
   */
  stampCms(call: StampCall, limits?: FinishLimits): Promise<StampedCms>;
  /** Ends the processes; calls in progress reject with WORKER_LOST. */
  close(): Promise<void>;
}

interface PdfFinisherOptions {
  /** Number of documents that are finished concurrently, each in its own process, started at the first need. */
  readonly processes: number;
  /** Memory that this process and its children may use together; default unlimited. */
  readonly memoryBytes?: number;
  readonly logger?: SandboxLogger;
}

const DEFAULT_TIMEOUT_MS = 60_000;
/** A longer call is slow; a watermark on a thousand pages takes less. Milliseconds. */
const SLICE_MS = 2000;

export function createPdfFinisher(options: PdfFinisherOptions): PdfFinisher {
  let sandbox: Sandbox | undefined;
  let closed = false;

  function start(): Sandbox {
    if (closed) throw new PlatenError('WORKER_LOST');
    return createSandbox({
      entry: new URL(`./finish-main${extname(import.meta.url)}`, import.meta.url),
      processes: options.processes,
      heapMb: pdfHeapMb(options.memoryBytes ?? Number.POSITIVE_INFINITY),
      sliceMs: SLICE_MS,
      logger: options.logger,
    });
  }

  async function run(
    call: FinishCall,
    { account, timeoutMs = DEFAULT_TIMEOUT_MS, signal }: FinishLimits,
  ): Promise<unknown> {
    sandbox ??= start();
    try {
      return await sandbox.run(call, timeoutMs, { account, withinMs: timeoutMs, signal });
    } catch (thrown) {
      throw thrown instanceof SandboxError ? finishError(thrown) : thrown;
    }
  }

  return {
    async finish(pdf, { steps, ...limits }) {
      return steps.length === 0 ? { pdf, faults: [] } : ((await run({ pdf, steps }, limits)) as FinishedPdf);
    },
    async countPages(pdf, limits = {}) {
      return pageTreeCount(pdf) ?? ((await run({ pdf, read: 'pages' }, limits)) as number);
    },
    async destinations(pdf, limits = {}) {
      return (await run({ pdf, read: 'destinations' }, limits)) as Readonly<Record<string, number>>;
    },
    async printedPages(pdf, limits = {}) {
      return (await run({ pdf, read: 'printed' }, limits)) as PrintedPages;
    },
    async checkCms(call, limits = {}) {
      return (await run(call, limits)) as CheckedCms;
    },
    async stampCms(call, limits = {}) {
      return (await run(call, limits)) as StampedCms;
    },
    async close() {
      closed = true;
      await sandbox?.close();
    },
  };
}

function finishError(error: SandboxError): PlatenError {
  switch (error.reason) {
    case 'timeout':
    case 'late':
      return new PlatenError('RENDER_TIMEOUT', 'The PDF could not be finished in time.', { cause: error });
    case 'memory':
      return new PlatenError('OUTPUT_TOO_LARGE', 'The PDF takes more memory than there is to finish it.', {
        cause: error,
      });
    case 'closed':
    case 'lost':
      return new PlatenError('WORKER_LOST', undefined, { cause: error });
    case 'error':
      return new PlatenError('RENDER_FAILED', 'The PDF could not be finished.', { cause: error });
  }
}
