import { extname } from 'node:path';
import { PlatenError } from '../errors/registry.ts';
import type { MetadataOptions } from '../jobs/render-options.ts';
import { createSandbox, type Sandbox, SandboxError, type SandboxLogger } from '../sandbox/sandbox.ts';
import { pageTreeCount } from './count-pages.ts';
import type { FinishCall } from './finish-main.ts';
import { pdfHeapMb } from './heap.ts';

export interface FinishRequest {
  readonly metadata?: MetadataOptions | undefined;
  /** A PDF of one square page without a background, drawn over every page at the size of its diagonal. */
  readonly watermark?: Uint8Array | undefined;
  /** Milliseconds until it must have been done, waiting included; default 60,000. */
  readonly timeoutMs?: number | undefined;
  /** Whose document it is: accounts take turns. */
  readonly account?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Whose turn it is, and how long it may take. */
type Turn = Pick<FinishRequest, 'account' | 'timeoutMs' | 'signal'>;

/** What Chromium cannot do itself: document metadata, a watermark over everything, and the counting of pages. */
export interface PdfFinisher {
  /**
   * The finished PDF; the same bytes, at once, when nothing is asked for. Links, outline and tags stay as they are.
   *
   * Rejects with RENDER_TIMEOUT past the time, OUTPUT_TOO_LARGE when the document needs more memory than there is,
   * RENDER_FAILED when it cannot be read, and the signal's reason when that aborts.
   */
  finish(pdf: Uint8Array, request: FinishRequest): Promise<Uint8Array>;
  /**
   * The number of pages: at once for what Chromium has printed, in the process for what is built otherwise.
   *
   * Rejects as `finish`.
   */
  countPages(pdf: Uint8Array, turn?: Turn): Promise<number>;
  /** Ends the processes; what is under way rejects with WORKER_LOST. */
  close(): Promise<void>;
}

export interface PdfFinisherOptions {
  /** How many documents are finished at the same time, each in its own process, started at the first need. */
  readonly processes: number;
  /** That this process and its children may use; without end unless said otherwise. */
  readonly memoryBytes?: number;
  readonly logger?: SandboxLogger;
}

const DEFAULT_TIMEOUT_MS = 60_000;
/** A watermark on a thousand pages takes no longer. */
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
    { account, timeoutMs = DEFAULT_TIMEOUT_MS, signal }: Turn,
  ): Promise<unknown> {
    sandbox ??= start();
    try {
      return await sandbox.run(call, timeoutMs, { account, withinMs: timeoutMs, signal });
    } catch (thrown) {
      throw thrown instanceof SandboxError ? finishError(thrown) : thrown;
    }
  }

  return {
    async finish(pdf, { metadata, watermark, ...turn }) {
      const asked = isEmpty(metadata) ? undefined : metadata;
      if (asked === undefined && watermark === undefined) return pdf;
      return (await run({ pdf, metadata: asked, watermark }, turn)) as Uint8Array;
    },
    async countPages(pdf, turn = {}) {
      return pageTreeCount(pdf) ?? ((await run({ pdf, count: true }, turn)) as number);
    },
    async close() {
      closed = true;
      await sandbox?.close();
    },
  };
}

function isEmpty(metadata: MetadataOptions | undefined): boolean {
  return Object.values(metadata ?? {}).every((value) => value === undefined || value.length === 0);
}

function finishError(error: SandboxError): PlatenError {
  switch (error.reason) {
    case 'timeout':
    case 'late':
      return new PlatenError('RENDER_TIMEOUT', 'The PDF could not be finished in time.', { cause: error });
    case 'memory':
      return new PlatenError('OUTPUT_TOO_LARGE', 'The PDF is too large for metadata or a watermark.', {
        cause: error,
      });
    case 'closed':
    case 'lost':
      return new PlatenError('WORKER_LOST', undefined, { cause: error });
    case 'fault':
      return new PlatenError('RENDER_FAILED', 'The PDF could not be finished.', { cause: error });
  }
}
