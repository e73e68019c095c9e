import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { BytesInFlight } from '../limits/bytes-in-flight.ts';
import { createSandbox, type Sandbox, type SandboxLogger } from '../sandbox/sandbox.ts';
import type { Part } from './merge-main.ts';
import { type MergeSource, mergedDocument } from './merged-document.ts';

/** Merges documents that may be hostile: they are parsed in processes that can be killed. */
export interface PdfMerger {
  /**
   * One PDF, made as it is read. It fails when a document cannot be read, in time or at all, and when others need the
   * memory that it takes.
   *
   * @param sources at least one.
   */
  merge(sources: readonly MergeSource[], terms: MergeTerms): Readable;
  /** Ends the processes; what is under way fails. */
  close(): Promise<void>;
}

export interface MergeTerms {
  /** Whose documents they are: accounts take turns. */
  readonly account: string;
  /** Ends what is under way. */
  readonly signal: AbortSignal;
}

export interface PdfMergerOptions {
  /** That this process and its children may use. */
  readonly memoryBytes: number;
  readonly logger?: SandboxLogger;
}

const MIB = 1024 * 1024;
/** One for whose documents take long, and one that is kept for others: see sandbox/turns.ts. */
const PROCESSES = 2;
/** Megabytes of one: a parsed PDF takes about ten times its size when it is made of many small objects. */
const MOST_HEAP_MB = 1024;
const LEAST_HEAP_MB = 128;
/** Of the memory that there is, what one process may have for its heap. */
const HEAP_SHARE = 1 / 4;
/** For one document. */
const TIMEOUT_MS = 60_000;
/** A document of a thousand pages takes no longer. */
const SLICE_MS = 2000;
/** Bytes of the documents that are held at a time, one of each merge that is under way. */
const MOST_HELD = 256 * MIB;
/** A larger document counts as one of this size, so that it can be merged at all. */
const MOST_COUNTED = MOST_HELD / 2;

/** The processes are started at the first need, and take one document after the other; accounts take turns. */
export function createPdfMerger({ memoryBytes, logger }: PdfMergerOptions): PdfMerger {
  const held = new BytesInFlight({ total: MOST_HELD, perOwner: MOST_HELD });
  let sandbox: Sandbox | undefined;
  let closed = false;

  function started(): Sandbox {
    if (closed) throw new Error('The merger is closed.');
    sandbox ??= createSandbox({
      entry: new URL(`./merge-main${extname(import.meta.url)}`, import.meta.url),
      processes: PROCESSES,
      heapMb: heapMb(memoryBytes),
      sliceMs: SLICE_MS,
      logger,
    });
    return sandbox;
  }

  return {
    merge(sources, { account, signal }) {
      const inTheWay = new AbortController();
      const terms = { account, signal: AbortSignal.any([signal, inTheWay.signal]) };
      const stream = Readable.from(
        mergedDocument(sources, sources.length, {
          renumber: async (call) => (await started().run(call, TIMEOUT_MS, terms)) as Part,
          hold(bytes) {
            const share = held.begin(account, Math.min(bytes, MOST_COUNTED), (error) => {
              inTheWay.abort(error);
              stream.destroy(error);
            });
            return share.release;
          },
        }),
        { objectMode: false },
      );
      return stream;
    },
    async close() {
      closed = true;
      await sandbox?.close();
    },
  };
}

/** @param memoryBytes of this process and its children together. */
function heapMb(memoryBytes: number): number {
  const share = Math.floor((memoryBytes * HEAP_SHARE) / MIB);
  return Math.min(MOST_HEAP_MB, Math.max(LEAST_HEAP_MB, share));
}
