import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { PlatenError } from '../../infra/errors/registry.ts';
import { Reservations } from '../../infra/overload/reservations.ts';
import { createSandbox, type Sandbox, type SandboxLogger } from '../../infra/sandbox/sandbox-pool.ts';
import { pdfHeapMb } from './heap.ts';
import type { Part } from './merge-main.ts';
import { type MergeSource, mergedDocument } from './merged-document.ts';

/** Merges documents that may be hostile: they are parsed in processes that can be killed. */
export interface PdfMerger {
  /**
   * A stream of one PDF, which is made while it is read. The stream fails when a document cannot be parsed in time, or
   * when other accounts need the memory that it holds.
   *
   * @param sources at least one.
   */
  merge(sources: readonly MergeSource[], terms: MergeTerms): Readable;
  /** Ends the processes; merges in progress fail. */
  close(): Promise<void>;
}

interface MergeTerms {
  /** The account of the documents, for the fair queue of accounts. */
  readonly account: string;
  /** Ends the merge when it aborts. */
  readonly signal: AbortSignal;
}

interface PdfMergerOptions {
  /** Memory that this process and its children may use together. */
  readonly memoryBytes: number;
  readonly logger?: SandboxLogger;
  /** How long the processes are kept when nothing is merged, in milliseconds; default 10,000. */
  readonly idleMs?: number;
}

const MIB = 1024 * 1024;
/** One process for accounts whose documents take long, and one for all others: see scheduling/sandbox-processes.ts. */
const PROCESSES = 2;
/** Time limit for one document. */
const TIMEOUT_MS = 60_000;
/** A longer call is slow; a document of a hundred tagged pages takes less. Milliseconds. */
const SLICE_MS = 2000;
/**
 * How long the processes are kept when nothing is merged, in milliseconds. They are not kept longer, since a process
 * keeps the memory that parsing took.
 */
const IDLE_MS = 10_000;
/** Bytes of documents that are held at a time: one document per merge in progress. */
const MAX_HELD = 256 * MIB;
/** A larger document counts as one of this size, so that it can be merged at all. Bytes. */
const MAX_COUNTED = MAX_HELD / 2;

/**
 * Creates a merger. Its processes are started when they are needed, and end when nothing has been merged for a while.
 * Each parses one document after another, in the order of the fair queue of accounts.
 */
export function createPdfMerger({ memoryBytes, logger, idleMs = IDLE_MS }: PdfMergerOptions): PdfMerger {
  const held = new Reservations({
    perOwner: MAX_HELD,
    inAll: MAX_HELD,
    evict: 'oldest',
    ownerExceeded: tooMuch,
    allExceeded: tooMuch,
  });
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

  /** Keeps the processes until the stream is closed, and for `idleMs` milliseconds more. */
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
      const evicted = new AbortController();
      const terms = { account, signal: AbortSignal.any([signal, evicted.signal]) };
      const stream = Readable.from(
        mergedDocument(sources, sources.length, {
          renumber: async (call) => (await started().run(call, TIMEOUT_MS, terms)) as Part,
          hold(bytes) {
            const reservation = held.reserve(account, Math.min(bytes, MAX_COUNTED), (error) => {
              evicted.abort(error);
              stream.destroy(error);
            });
            return reservation.release;
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

function tooMuch(): PlatenError {
  return new PlatenError('UNAVAILABLE', 'The documents that are merged take as much memory as they may.');
}
