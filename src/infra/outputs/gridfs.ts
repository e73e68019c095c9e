import { Readable } from 'node:stream';
import { type Connection, mongo } from 'mongoose';
import { Collection, type CollectionSpec } from '../store/collection.ts';
import { isDuplicateKey } from '../store/duplicate-key.ts';
import {
  expiryOf,
  HOUR_MS,
  inMemory,
  mediaTypeOf,
  type OutputKey,
  type OutputStore,
  type StoredOutput,
} from './output-store.ts';

/** Most PDFs are one chunk; a chunk stays far below MongoDB's limit of 16 MiB for a document. */
const CHUNK_BYTES = 1024 * 1024;
/** Bounds the chunks that are encoded at a time, and the documents that one statement deletes. */
const CHUNKS_PER_INSERT = 8;
const DELETE_BATCH = 500;

/** A GridFS file. It is written after its chunks, so a file that can be found is complete. */
interface FileDocument {
  /** The output's key. */
  _id: string;
  length: number;
  chunkSize: number;
  uploadDate: Date;
  filename: string;
  metadata: { contentType: string; expiresAt: Date };
  /** The whole PDF, when it fits into one chunk. */
  data?: mongo.Binary;
}

interface ChunkDocument {
  /** `<key>/<n>`: found exactly, and by the hour of its expiry, through the one index that every server has. */
  _id: string;
  files_id: OutputKey;
  n: number;
  data: mongo.Binary;
}

const FILES: CollectionSpec = { name: 'outputs.files', account: { step: 'jobs' } };
const CHUNKS: CollectionSpec = { name: 'outputs.chunks', account: { step: 'jobs' } };

/**
 * Outputs in MongoDB, in the layout of GridFS (bucket `outputs`), with one exception: a PDF that fits into one chunk,
 * as most do, is part of its file document. So one statement stores it and one reads it. Any GridFS client can read
 * larger PDFs.
 *
 * The driver's own bucket is not used, because it checks its indexes first, writes chunk by chunk, and cannot find by
 * one exact key, the only lookup that the embedded server does without a scan.
 */
export function createGridFsOutputStore(connection: Connection): OutputStore {
  const files: Files = new Collection(connection, FILES);
  const chunks: Chunks = new Collection(connection, CHUNKS);

  return {
    async put(key, pdf) {
      try {
        await insert(files, chunks, key, pdf);
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        // An earlier `put` of this key was interrupted, or was complete and its response was lost.
        await remove(files, chunks, key);
        await insert(files, chunks, key, pdf);
      }
    },

    // A database that cannot store PDFs cannot store jobs either, and rejects new jobs itself.
    problem: () => undefined,

    async get(key): Promise<StoredOutput | undefined> {
      const file = await files.findById(key);
      if (file === undefined) return undefined;
      const { length: size, data } = file;
      if (data !== undefined) return inMemory(bytesOf(data));
      return { size, stream: Readable.from(contents(chunks, key, Math.ceil(size / file.chunkSize))) };
    },

    async delete(...keys) {
      for (let from = 0; from < keys.length; from += DELETE_BATCH)
        await removeAll(files, chunks, keys.slice(from, from + DELETE_BATCH));
    },

    async deleteExpired(now) {
      // Keys begin with the hour of their expiry, so every key that sorts before the present hour has expired,
      // including chunks whose file was never written. (Hours have six digits until the year 2084.)
      const end = `${Math.ceil(now.getTime() / HOUR_MS)}/`;
      const deleted = await deleteBefore(files, end);
      await deleteBefore(chunks, end);
      return deleted;
    },
  };
}

type Files = Collection<FileDocument>;
type Chunks = Collection<ChunkDocument>;

const chunkId = (key: OutputKey, n: number): string => `${key}/${n}`;

async function insert(files: Files, chunks: Chunks, key: OutputKey, pdf: Uint8Array): Promise<void> {
  const bytes = Buffer.from(pdf.buffer, pdf.byteOffset, pdf.byteLength);
  const isOneChunk = bytes.length <= CHUNK_BYTES;
  const documents = isOneChunk ? [] : chunksOf(key, bytes);
  for (let from = 0; from < documents.length; from += CHUNKS_PER_INSERT) {
    await chunks.insertAll(documents.slice(from, from + CHUNKS_PER_INSERT));
  }
  await files.insert({
    _id: key,
    length: pdf.byteLength,
    chunkSize: CHUNK_BYTES,
    uploadDate: new Date(),
    filename: key,
    metadata: { contentType: mediaTypeOf(key), expiresAt: expiryOf(key) },
    ...(isOneChunk && { data: new mongo.Binary(bytes) }),
  });
}

function chunksOf(key: OutputKey, bytes: Buffer): ChunkDocument[] {
  const count = Math.ceil(bytes.length / CHUNK_BYTES);
  return Array.from({ length: count }, (_, n) => ({
    _id: chunkId(key, n),
    files_id: key,
    n,
    data: new mongo.Binary(bytes.subarray(n * CHUNK_BYTES, (n + 1) * CHUNK_BYTES)),
  }));
}

async function readChunk(chunks: Chunks, key: OutputKey, n: number): Promise<Buffer | undefined> {
  const chunk = await chunks.findById(chunkId(key, n));
  return chunk && bytesOf(chunk.data);
}

/** Without a copy. */
function bytesOf({ buffer, position }: mongo.Binary): Buffer {
  return Buffer.from(buffer.buffer, buffer.byteOffset, position);
}

async function* contents(chunks: Chunks, key: OutputKey, count: number): AsyncGenerator<Buffer> {
  for (let n = 0; n < count; n++) {
    const data = await readChunk(chunks, key, n);
    if (data === undefined) throw new Error(`The output ${key} was deleted while it was read.`);
    yield data;
  }
}

/** The file first, so that a partly deleted PDF cannot be read. Then its chunks, up to the first missing number. */
async function remove(files: Files, chunks: Chunks, key: OutputKey): Promise<void> {
  await files.deleteOne({ _id: key });
  for (let n = 0; ; n++) {
    if (!(await chunks.deleteOne({ _id: chunkId(key, n) }))) return;
  }
}

/**
 * The same for several files by a few statements. What an interrupted `put` has left without a file stays until the hour of
 * its expiry.
 */
async function removeAll(files: Files, chunks: Chunks, keys: readonly OutputKey[]): Promise<void> {
  const all = { _id: { $in: [...keys] } };
  const found = await files.find(all, { projection: { length: 1, chunkSize: 1, filename: 1 } });
  await files.deleteMany(all);
  const ofLarge = found.flatMap(({ filename, length, chunkSize }) =>
    length <= chunkSize
      ? []
      : Array.from({ length: Math.ceil(length / chunkSize) }, (_, n) => chunkId(filename as OutputKey, n)),
  );
  for (let from = 0; from < ofLarge.length; from += DELETE_BATCH)
    await chunks.deleteMany({ _id: { $in: ofLarge.slice(from, from + DELETE_BATCH) } });
}

async function deleteBefore(collection: Files | Chunks, end: string): Promise<number> {
  let deleted = 0;
  for (;;) {
    const expired = await collection.find(
      { _id: { $lt: end } },
      { projection: { _id: 1 }, limit: DELETE_BATCH },
    );
    if (expired.length === 0) return deleted;
    deleted += await collection.deleteMany({ _id: { $in: expired.map(({ _id }) => _id) } });
    if (expired.length < DELETE_BATCH) return deleted;
  }
}
