import { open, rename, rm } from 'node:fs/promises';

/** A writable stream of Node, as `fs.createWriteStream` makes and `http.ServerResponse` is. */
export interface NodeWritable {
  write(bytes: Uint8Array, done: (error?: Error | null) => void): unknown;
  end(done: () => void): unknown;
  destroy(): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
}

/**
 * Where a download goes: a path, where the file appears once it is whole; or a stream, of the web or of Node, which is
 * closed at the end.
 */
export type DownloadTarget = string | WritableStream<Uint8Array> | NodeWritable;

/** What the bytes of a download are written to. */
export interface Sink {
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** Takes back what was written; undefined where that cannot be done. */
  readonly restart?: () => Promise<void>;
  /** Called when everything has been written. */
  readonly close: () => Promise<void>;
  /** Called when nothing more comes. */
  readonly abort: (reason: unknown) => Promise<void>;
}

/** @throws whatever keeps the file from being opened. */
export async function sinkOf(target: DownloadTarget): Promise<Sink> {
  if (typeof target === 'string') return await fileSink(target);
  return 'getWriter' in target ? webSink(target) : nodeSink(target);
}

async function fileSink(path: string): Promise<Sink> {
  const draft = `${path}.part`;
  let file = await open(draft, 'w');
  return {
    write: (bytes) => file.writeFile(bytes),
    async restart() {
      await file.close();
      file = await open(draft, 'w');
    },
    async close() {
      await file.close();
      await rename(draft, path);
    },
    async abort() {
      await file.close();
      await rm(draft, { force: true });
    },
  };
}

function webSink(stream: WritableStream<Uint8Array>): Sink {
  const writer = stream.getWriter();
  return {
    write: (bytes) => writer.write(bytes),
    close: () => writer.close(),
    abort: (reason) => writer.abort(reason).catch(() => undefined),
  };
}

function nodeSink(stream: NodeWritable): Sink {
  // Its errors are those of the download, which reports them to its caller.
  let failed: Error | undefined;
  let reject = (_error: Error): void => undefined;
  const onError = (error: Error) => {
    failed = error;
    reject(error);
  };
  stream.on('error', onError);
  const step = (begin: (done: (error?: Error | null) => void) => unknown) =>
    new Promise<void>((resolve, rejectStep) => {
      if (failed !== undefined) return rejectStep(failed);
      reject = rejectStep;
      begin((error) => (error ? rejectStep(failed ?? error) : resolve()));
    });
  return {
    write: (bytes) => step((done) => stream.write(bytes, done)),
    async close() {
      await step((done) => stream.end(() => done()));
      stream.off('error', onError);
    },
    async abort() {
      stream.destroy();
    },
  };
}
