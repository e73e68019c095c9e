import { once } from 'node:events';
import { Readable } from 'node:stream';
import { ZipArchive } from 'archiver';

/** A file of a zip. */
export interface ZipEntry {
  /** Safe, and unique within the zip. */
  readonly name: string;
  /** Bytes; below 4 GiB. */
  readonly size: number;
  readonly date: Date;
}

/** Bytes of a file, the first and the last of them, counted from 0. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/*
 * The layout of what the library writes for stored files that are streamed (APPNOTE.TXT 6.3.10, 4.3). Their checksum is
 * known after they have been read, and so stands behind them.
 */
const LOCAL_HEADER = 30;
const DATA_DESCRIPTOR = 16;
const CENTRAL_HEADER = 46;
/** Of a file that begins past 4 GiB. */
const ZIP64_EXTRA = 28;
const END = 22;
const ZIP64_END = 56 + 20;
const MOST = 0xffff_ffff;
const MOST_ENTRIES = 0xffff;

/** Smaller pieces are put together: the library makes dozens for each entry. */
const SMALL_BYTES = 16 * 1024;
/** What is read ahead in each of the library's streams; of its own accord it is a mebibyte. */
const READ_AHEAD_BYTES = 64 * 1024;

/** The bytes of a zip of these entries, before any of them is read. */
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
 * A zip of stored files, made as it is read: one file is open at a time, and as much is read ahead as a few buffers
 * hold. The same entries make the same bytes. Destroying the stream closes the file that is open.
 *
 * The stream fails when a file cannot be opened or is not as large as was declared.
 *
 * @param range leaves out the bytes around it; what precedes it is read nonetheless, for the checksums at the end.
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
  // The iteration below reports errors. One that comes after its end concerns no caller, and must not end the process.
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
    // The library does not check: an error without a listener would end the process.
    file.on('error', (error) => archive.destroy(error));
    // A caller that stops while the file is read into the zip must not leave it open.
    try {
      signal.throwIfAborted();
      const written = once(archive, 'entry', { signal });
      archive.append(file, { name: entry.name, date: entry.date });
      await written;
    } finally {
      await closed(file.destroy());
    }
  }
  // Resolves when the last byte has been read, which need never happen.
  archive.finalize().catch(() => {});
}

async function closed(file: Readable): Promise<void> {
  if (!file.closed) await once(file, 'close');
}

/** @throws Error when the source ends before the range does: its length is not the one that was promised. */
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

/** Puts small pieces together; large ones are passed on as they are, without a copy. */
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
