import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { createSandbox, type Sandbox, type SandboxLogger } from '../sandbox/sandbox.ts';
import type { Part } from './merge-main.ts';
import { type MergeSource, mergedDocument } from './merged-document.ts';

/** Merges documents that may be hostile: they are parsed in a process that can be killed. */
export interface PdfMerger {
  /**
   * One PDF, made as it is read. It fails when a document cannot be read, in time or at all.
   *
   * @param sources at least one.
   * @param signal ends what is under way.
   */
  merge(sources: readonly MergeSource[], signal: AbortSignal): Readable;
  /** Ends the process; what is under way fails. */
  close(): Promise<void>;
}

/** Megabytes: a parsed PDF takes about ten times its size when it is made of many small objects. */
const HEAP_MB = 1024;
/** For one document. */
const TIMEOUT_MS = 60_000;

/** The process is started at the first need, and takes one document after the other, whosever they are. */
export function createPdfMerger(logger?: SandboxLogger): PdfMerger {
  let sandbox: Sandbox | undefined;
  let closed = false;

  function started(): Sandbox {
    if (closed) throw new Error('The merger is closed.');
    sandbox ??= createSandbox({
      entry: new URL(`./merge-main${extname(import.meta.url)}`, import.meta.url),
      processes: 1,
      heapMb: HEAP_MB,
      logger,
    });
    return sandbox;
  }

  return {
    merge(sources, signal) {
      const renumber = async (call: object) => (await started().run(call, TIMEOUT_MS, { signal })) as Part;
      return Readable.from(mergedDocument(sources, sources.length, renumber), { objectMode: false });
    },
    async close() {
      closed = true;
      await sandbox?.close();
    },
  };
}
