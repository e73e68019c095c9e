import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { BytesInFlight } from '../limits/bytes-in-flight.ts';
import { createSandbox, type Sandbox, type SandboxLogger } from '../sandbox/sandbox.ts';
import { pdfHeapMb } from './heap.ts';
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
  /** How long the processes stay when nothing is merged, in milliseconds; IDLE_MS unless said otherwise. */
  readonly idleMs?: number;
}

const MIB = 1024 * 1024;
/** One for whose documents take long, and one that is kept for others: see sandbox/turns.ts. */
const PROCESSES = 2;
/** For one document. */
const TIMEOUT_MS = 60_000;
/** A document of a thousand pages takes no longer. */
const SLICE_MS = 2000;
/** A process that has parsed large documents keeps what that took; how long they stay when nobody merges, in milliseconds. */
const IDLE_MS = 10_000;
/** Bytes of the documents that are held at a time, one of each merge that is under way. */
const MOST_HELD = 256 * MIB;
/** A larger document counts as one of this size, so that it can be merged at all. */
const MOST_COUNTED = MOST_HELD / 2;

/**
 * The processes are started when they are needed, and end when nobody has merged for a while. They take one document after
 * the other; accounts take turns.
 */
export function createPdfMerger({ memoryBytes, logger, idleMs = IDLE_MS }: PdfMergerOptions): PdfMerger {
  const held = new BytesInFlight({ total: MOST_HELD, perOwner: MOST_HELD });
  let sandbox: Sandbox | undefined;
  let closed = false;
  let underWay = 0;
  let idle: NodeJS.Timeout | undefined;

  function started(): Sandbox {
    if (closed) throw new Error('The merger is closed.');
    sandbox ??= createSandbox({
      entry: new URL(`./merge-main${extname(import.meta.url)}`, import.meta.url),
      processes: PROCESSES,
      heapMb: pdfHeapMb(memoryBytes),
      sliceMs: SLICE_MS,
      logger,
    });
    return sandbox;
  }

  async function end(): Promise<void> {
    const ended = sandbox;
    sandbox = undefined;
    await ended?.close();
  }

  /** Keeps the processes until the stream is closed, and a while longer. */
  function hold(stream: Readable): void {
    underWay += 1;
    clearTimeout(idle);
    stream.once('close', () => {
      underWay -= 1;
      if (underWay === 0) idle = setTimeout(() => void end(), idleMs).unref();
    });
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
      hold(stream);
      return stream;
    },
    async close() {
      closed = true;
      clearTimeout(idle);
      await end();
    },
  };
}
