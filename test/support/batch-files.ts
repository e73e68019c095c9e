import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { OutputKey } from '../../src/infra/outputs/output-store.ts';

const CHILD = fileURLToPath(new URL('./batch-files-child.ts', import.meta.url));
const MIB = 1024 * 1024;

/** Bytes: the process's present memory and maximum, and the merging process's maximum. */
export interface FilesMemory {
  readonly now: number;
  readonly peak: number;
  readonly mergerPeak: number;
}

/** A process that serves zips and merged PDFs, so that its memory is that of nothing else. */
export interface FilesProcess {
  memory(): Promise<FilesMemory>;
  /**
   * Reads a file to its end, with a pause after every 16 MiB.
   *
   * @param items of the file: the first ones; all otherwise.
   * @returns its bytes.
   */
  read(what: 'zip' | 'merged', pauseMs: number, items?: number): Promise<number>;
  end(): Promise<void>;
}

/**
 * @param location the folder of an output store, or the connection string of one in GridFS.
 * @param entries the number of entries, which repeat the outputs `keys`.
 * @param bytes of each output.
 */
export async function startFilesProcess(
  location: string,
  entries: number,
  bytes: number,
  keys: readonly OutputKey[],
): Promise<FilesProcess> {
  const child: ChildProcess = spawn(
    process.execPath,
    [CHILD, location, String(entries), String(bytes), ...keys],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [line] = (await once(child.stdout!, 'data')) as [Buffer];
  const url = `http://127.0.0.1:${line.toString().trim()}`;
  return {
    memory: async () => (await (await fetch(`${url}/memory`)).json()) as FilesMemory,
    async read(what, pauseMs, items = entries) {
      const [response] = (await once(get(`${url}/${what}?items=${items}`), 'response')) as [IncomingMessage];
      let read = 0;
      let rested = 0;
      for await (const chunk of response as AsyncIterable<Buffer>) {
        read += chunk.length;
        if (read - rested < 16 * MIB) continue;
        rested = read;
        await sleep(pauseMs);
      }
      return read;
    },
    async end() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
