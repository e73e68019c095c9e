import { once } from 'node:events';
import { Readable } from 'node:stream';
import { ZipArchive } from 'archiver';

/** A file of a zip. */
export interface ZipEntry {
  readonly name: string;
  /** Bytes; below 4 GiB. */
  readonly size: number;
  readonly date: Date;
}

/** The first and the last byte of a part of a file, counted from 0. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/*
 * The sizes of what the library writes for stored files that are streamed (APPNOTE.TXT 6.3.10, 4.3). The checksum of a
 * file is known after the file has been read, so it follows the file.
 */
const LOCAL_HEADER = 30;
const DATA_DESCRIPTOR = 16;
const CENTRAL_HEADER = 46;
/** For a file that begins beyond 4 GiB. */
const ZIP64_EXTRA = 28;
const END = 22;
const ZIP64_END = 56 + 20;
const MOST = 0xffff_ffff;
const MOST_ENTRIES = 0xffff;

/** Smaller pieces are joined, because the library makes dozens of them for each entry. */
const SMALL_BYTES = 16 * 1024;
/** Bytes that each of the library's streams reads ahead; its default is 1 MiB. */
const READ_AHEAD_BYTES = 64 * 1024;

/** The size in bytes of a zip of these entries, before any of them is read. */
export function zipSize(entries: Iterable<ZipEntry>): number {
  let offset = 0;
  let directory = 0;
  let count = 0;
  for (const { name, size } of entries) {
    const nameBytes = Buffer.byteLength(name);
    directory += CENTRAL_HEADER + nameBytes + (offset > MOST ? ZIP64_EXTRA : 0);
    offset += LOCAL_HEADER + nameBytes + size + DATA_DESCRIPTOR;
    count += 1;
  }
  const isZip64 = count > MOST_ENTRIES || offset > MOST || directory > MOST;
  return offset + directory + (isZip64 ? ZIP64_END : 0) + END;
}

/**
 * A zip of stored files, generated while it is read: one file is open at a time, and only a few buffers are read ahead.
 * The same entries give the same bytes. Destroying the stream closes the open file.
 *
 * The stream fails when a file cannot be opened or does not have the declared size.
 *
 * @param range the bytes to return; the bytes before it are read nonetheless, for the checksums at the end.
 */
export function zipStream<Entry extends ZipEntry>(
  entries: readonly Entry[],
  open: (entry: Entry) => Promise<Readable>,
  range: ByteRange = { start: 0, end: zipSize(entries) - 1 },
): Readable {
  return Readable.from(inPieces(sliced(zipBytes(entries, open), range)), { objectMode: false });
}

async function* zipBytes<Entry extends ZipEntry>(
  entries: readonly Entry[],
  open: (entry: Entry) => Promise<Readable>,
): AsyncGenerator<Buffer> {
  const archive = new ZipArchive({ store: true, highWaterMark: READ_AHEAD_BYTES });
  // The iteration below reports errors. An error after its end concerns no caller, and must not end the process.
  archive.on('error', () => {});
  const stop = new AbortController();
  feed(archive, entries, open, stop.signal).catch((error: Error) => archive.destroy(error));
  try {
    for await (const chunk of archive) yield chunk as Buffer;
  } finally {
    stop.abort();
    archive.destroy();
  }
}

async function feed<Entry extends ZipEntry>(
  archive: ZipArchive,
  entries: readonly Entry[],
  open: (entry: Entry) => Promise<Readable>,
  signal: AbortSignal,
): Promise<void> {
  for (const entry of entries) {
    signal.throwIfAborted();
    const file = await open(entry);
    // The library does not listen for errors: an error without a listener would end the process.
    file.on('error', (error) => archive.destroy(error));
    // If a caller stops while the file is read, the file must not stay open.
    try {
      signal.throwIfAborted();
      const written = once(archive, 'entry', { signal });
      archive.append(file, { name: entry.name, date: entry.date });
      await written;
    } finally {
      await closed(file.destroy());
    }
  }
  // Resolves when the last byte has been read, which may never happen.
  archive.finalize().catch(() => {});
}

async function closed(file: Readable): Promise<void> {
  if (!file.closed) await once(file, 'close');
}

/** @throws Error when the source ends before the range: its length differs from the announced one. */
async function* sliced(source: AsyncIterable<Buffer>, { start, end }: ByteRange): AsyncGenerator<Buffer> {
  let at = 0;
  for await (const chunk of source) {
    const from = Math.max(0, start - at);
    const to = Math.min(chunk.length, end + 1 - at);
    at += chunk.length;
    if (from < to) yield chunk.subarray(from, to);
    if (at > end) return;
  }
  throw new Error(`The zip ended after ${at} bytes; ${end + 1} were promised.`);
}

/** Joins small pieces; passes large pieces on without a copy. */
async function* inPieces(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of source) {
    const isSmall = chunk.length < SMALL_BYTES;
    if (isSmall) {
      held.push(chunk);
      bytes += chunk.length;
    }
    if (bytes > 0 && (!isSmall || bytes >= SMALL_BYTES)) {
      yield Buffer.concat(held, bytes);
      held = [];
      bytes = 0;
    }
    if (!isSmall) yield chunk;
  }
  if (bytes > 0) yield Buffer.concat(held, bytes);
}
