import { extname } from 'node:path';
import { PlatenError } from '../../infra/errors/registry.ts';
import {
  type CallerErrors,
  createSandbox,
  errorForCaller,
  SandboxError,
  type SandboxLogger,
} from '../../infra/sandbox/sandbox-pool.ts';
import type { PrintedPages } from '../report/print-facts.ts';
import type { CheckedCms, SealCall, StampedCms } from '../seal/read-cms.ts';
import type { GatherCall, Gathered } from '../seal/revocation/gather.ts';
import type { StampCall } from '../seal/timestamp.ts';
import { pageTreeCount } from './count-pages.ts';
import type { FinishCall } from './finish-main.ts';
import type { FinishedPdf, FinishStep } from './finish-step.ts';
import { pdfHeapMb, pdfMemoryMb } from './heap.ts';
import type { ConvertedPdf, SentTerms } from './sent/convert-sent.ts';
import type { Refusal } from './sent/refusal.ts';
import type { ValidatedPdf } from './sent/validate-sent.ts';

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
   * is, RENDER_FAILED when it cannot be read, the code of a step that cannot be done with it, and the signal's reason when
   * that aborts.
   */
  finish(pdf: Uint8Array, request: FinishRequest): Promise<FinishedPdf>;
  /**
   * Applies the steps to a PDF that somebody has sent, which is written anew, also without a step.
   *
   * Rejects as `finish`, but with PDF_INVALID, PDF_ENCRYPTED, PDF_SIGNED, CONFORMANCE_FAILED or DOCUMENT_LIMIT for whatever
   * is wrong with the PDF itself, each for good.
   *
   * @param maxBytes a larger PDF is OUTPUT_TOO_LARGE.
   */
  convert(pdf: Uint8Array, request: FinishRequest & SentTerms): Promise<ConvertedPdf>;
  /**
   * What a PDF that somebody has sent claims, and whether it holds. One that cannot be read has failed a check.
   *
   * Rejects as `finish`, but with DOCUMENT_LIMIT for a PDF that has too many pages or needs too much memory.
   */
  validate(pdf: Uint8Array, limits?: FinishLimits): Promise<ValidatedPdf>;
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
  /**
   * What proves that the certificates of a signature are not revoked, or which servers to ask for it.
   *
   * Rejects as `finish`.
   */
  gatherValidation(call: GatherCall, limits?: FinishLimits): Promise<Gathered>;
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
  const { memoryBytes = Number.POSITIVE_INFINITY } = options;
  const sandbox = createSandbox({
    entry: new URL(`./finish-main${extname(import.meta.url)}`, import.meta.url),
    processes: options.processes,
    heapMb: pdfHeapMb(memoryBytes),
    memoryMb: pdfMemoryMb(memoryBytes),
    sliceMs: SLICE_MS,
    logger: options.logger,
    startsLate: true,
  });

  async function run(
    call: FinishCall,
    { account, timeoutMs = DEFAULT_TIMEOUT_MS, signal }: FinishLimits,
    errors = FINISH_ERRORS,
  ): Promise<unknown> {
    try {
      return await sandbox.run(call, timeoutMs, { account, withinMs: timeoutMs, signal });
    } catch (thrown) {
      throw thrown instanceof SandboxError ? errorForCaller(thrown, errors) : thrown;
    }
  }

  async function convert(
    pdf: Uint8Array,
    { steps, maxBytes, pdfa, ...limits }: FinishRequest & SentTerms,
  ): Promise<ConvertedPdf> {
    const converted = await run({ pdf, steps, sent: { maxBytes, pdfa } }, limits, CONVERSION_ERRORS);
    return unlessRefused(converted as ConvertedPdf | Refused);
  }

  return {
    async finish(pdf, { steps, ...limits }) {
      if (steps.length === 0) return { pdf, faults: [] };
      return unlessRefused((await run({ pdf, steps }, limits)) as FinishedPdf | Refused);
    },
    convert,
    async validate(pdf, limits = {}) {
      const found = await run({ pdf, validateAt: Date.now() }, limits, CONVERSION_ERRORS);
      return unlessRefused(found as ValidatedPdf | Refused);
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
    async gatherValidation(call, limits = {}) {
      return (await run(call, limits)) as Gathered;
    },
    close: () => sandbox.close(),
  };
}

const LATE = ['RENDER_TIMEOUT', 'The PDF could not be finished in time.'] as const;
const FINISH_ERRORS: CallerErrors = {
  timeout: LATE,
  late: LATE,
  memory: ['OUTPUT_TOO_LARGE', 'The PDF takes more memory than there is to finish it.'],
  closed: ['WORKER_LOST'],
  lost: ['WORKER_LOST'],
  error: ['RENDER_FAILED', 'The PDF could not be finished.'],
};
const tooMuch = (what: string) =>
  `The PDF takes more ${what} than there is to convert it: make it simpler, or split it.`;
/** What a PDF that was sent asks for, it asks for in each attempt. */
const CONVERSION_ERRORS: CallerErrors = {
  ...FINISH_ERRORS,
  timeout: ['RENDER_TIMEOUT', tooMuch('time'), { permanent: true }],
  memory: ['DOCUMENT_LIMIT', tooMuch('memory'), { permanent: true }],
};

interface Refused {
  readonly refusal: Refusal;
}

/** @throws PlatenError, for good. */
function unlessRefused<Made extends object>(made: Made | Refused): Made {
  if (!('refusal' in made)) return made;
  throw new PlatenError(made.refusal.code, made.refusal.message, { permanent: true });
}
