/**
 * What the files of a large batch take of memory: 1,000 items of half a megabyte, rendered by standalone with the embedded
 * database, once with outputs in a folder and once with outputs in GridFS. The service is started anew before its files
 * are asked for over HTTP, so that nothing of the renders is left which could be used again.
 *
 *    zip      read slowly, with a pause of some seconds half-way; then by four readers at once, as fast as they can
 *    merged   one PDF of all items; its bookmarks are counted
 *
 * What a new process takes for its first file of a kind, of whatever size, is taken before by a reader that goes away
 * after a tenth.
 *
 * BENCH_ITEMS (default 1000): items of the batch. BENCH_STORES (default folder,gridfs). Alone:
 * `BENCH_PART=batch-files make bench`.
 */
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BatchService,
  newTenant,
  openBatchService,
  submitBatch,
  type Tenant,
  untilEnded,
  verdict,
} from './batch-service.ts';
import { random } from './documents.ts';
import { watchHealth } from './health.ts';
import { highest, mebibytes, PROCESS_KINDS, sampleOf, thirds, watchOverTime } from './memory-over-time.ts';

const ITEMS = Number(process.env.BENCH_ITEMS ?? 1000);
const STORES = (process.env.BENCH_STORES ?? 'folder,gridfs').split(',');
const MIB = 1024 * 1024;
/** Pixels of a picture of noise, which a PDF keeps as about three bytes each. */
const PICTURE = { width: 416, height: 416 };
const SLOW_BYTES_PER_SECOND = 25 * MIB;
const PAUSE_MS = 4000;
const READERS = 4;
const SAMPLE_MS = 100;
/** Of a merged PDF: ample for its outline and what follows it. */
const END_BYTES = MIB;
/** Bytes that a process may have more than before, and what the merging one may have in the last third beside the first. */
const WANTED = { more: 64 * MIB, growth: 1.15, healthMs: 1000 };

for (const store of STORES) {
  console.log(`\nThe files of a batch of ${ITEMS}, outputs in ${store}`);
  const service = await openBatchService(ITEMS, { PLATEN_OUTPUT_STORE: store });
  try {
    const tenant = await newTenant(service, 'files', documentOf(noise()));
    const batchId = await submitBatch(service, tenant, ITEMS);
    const { progress } = await untilEnded(service, tenant, batchId);
    if (progress.completed !== ITEMS) throw new Error(`${progress.failed} items have failed`);
    const zip = `/v1/pdf/batch/${batchId}/zip`;
    await service.restart();
    await begin(service, tenant, zip);
    await measured(service, 'zip, read slowly', 1, () => readSlowly(service, tenant, zip));
    await measured(service, `zip, ${READERS} readers at once`, READERS, async () => {
      const sizes = await Promise.all(
        Array.from({ length: READERS }, async () => (await read(service, tenant, zip)).bytes),
      );
      return sizes[0]!;
    });
    await service.restart();
    const merged = `/v1/pdf/batch/${batchId}/pdf?merge=true`;
    await begin(service, tenant, merged);
    await measured(service, 'merged PDF', 1, async () => {
      const { bytes, bookmarks } = await read(service, tenant, merged);
      if (bookmarks !== ITEMS) throw new Error(`${bookmarks} bookmarks`);
      return bytes;
    });
  } finally {
    await service.close();
  }
}
process.exit(0);

/**
 * Does something, and prints what it took of the memory of each process.
 *
 * @param files that are read at a time.
 * @param work answers the bytes that were read.
 */
async function measured(
  service: BatchService,
  what: string,
  files: number,
  work: () => Promise<number>,
): Promise<void> {
  const mayTake = files * WANTED.more;
  const { pid, url } = service.role;
  await sleep(2000);
  const before = sampleOf(pid);
  const memory = watchOverTime(pid, SAMPLE_MS);
  const health = watchHealth(url);
  const began = performance.now();
  const bytes = await work();
  const seconds = (performance.now() - began) / 1000;
  const slowest = health.stop();
  const samples = memory.stop();
  const more = highest(samples, 'node') - before.node;
  const [node, helpers] = (['node', 'helpers'] as const).map((part) => {
    const { first, last } = thirds(samples, part);
    return last / first;
  }) as [number, number];
  console.log(`  ${what}: ${mebibytes(bytes)} in ${seconds.toFixed(1)} s`);
  for (const part of PROCESS_KINDS) {
    console.log(
      `    ${part}: ${mebibytes(before[part])} before, at most ${mebibytes(highest(samples, part))}`,
    );
  }
  console.log(
    `    node ${mebibytes(more)} more, wanted ≤ ${mebibytes(mayTake)}: ${verdict(more <= mayTake)}; in the last third ${node.toFixed(2)} of the first, helpers ${helpers.toFixed(2)}, wanted ≤ ${WANTED.growth}: ${verdict(node <= WANTED.growth && helpers <= WANTED.growth)}`,
  );
  console.log(
    `    /healthz answered within ${slowest.toFixed(0)} ms, wanted ≤ ${WANTED.healthMs}: ${verdict(slowest <= WANTED.healthMs)}`,
  );
}

/** As over a slow line, with a pause half-way in which nothing is read. @returns bytes. */
async function readSlowly(service: BatchService, tenant: Tenant, path: string): Promise<number> {
  const response = await request(service, tenant, path);
  const size = Number(response.headers['content-length']);
  const began = performance.now();
  let bytes = 0;
  let paused = 0;
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length;
    if (paused === 0 && bytes > size / 2) {
      await sleep(PAUSE_MS);
      paused = PAUSE_MS;
    }
    const due = began + paused + (bytes / SLOW_BYTES_PER_SECOND) * 1000;
    if (due > performance.now()) await sleep(due - performance.now());
  }
  if (bytes !== size) throw new Error(`${bytes} bytes of ${size}`);
  return bytes;
}

/** Reads the first tenth or so of a file of all items, and goes away. */
async function begin(service: BatchService, tenant: Tenant, path: string): Promise<void> {
  const response = await request(service, tenant, path);
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > ITEMS * 50 * 1024) return;
  }
}

/** Reads all of it as fast as it comes. */
async function read(
  service: BatchService,
  tenant: Tenant,
  path: string,
): Promise<{ bytes: number; bookmarks: number }> {
  const response = await request(service, tenant, path);
  let bytes = 0;
  let kept = 0;
  const end: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    kept += chunk.length;
    end.push(chunk);
    while (kept - end[0]!.length > END_BYTES) kept -= end.shift()!.length;
  }
  const outline = /\/Type\/Outlines.*?\/Count (\d+)>>/.exec(Buffer.concat(end).toString('latin1'));
  return { bytes, bookmarks: Number(outline?.[1] ?? 0) };
}

async function request(service: BatchService, { key }: Tenant, path: string): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  get(`${service.role.url}${path}`, { headers: { 'x-api-key': key } }, resolve).once('error', reject);
  const response = await promise;
  if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode}`);
  return response;
}

function documentOf(picture: Buffer): string {
  return `<!doctype html><title>Picture</title><img src="data:image/bmp;base64,${picture.toString('base64')}">`;
}

/** A bitmap that no compression makes smaller. */
function noise(): Buffer {
  const { width, height } = PICTURE;
  const head = Buffer.alloc(54);
  head.write('BM');
  head.writeUInt32LE(54, 10);
  head.writeUInt32LE(40, 14);
  head.writeInt32LE(width, 18);
  head.writeInt32LE(height, 22);
  head.writeUInt16LE(1, 26);
  head.writeUInt16LE(24, 28);
  const next = random(11);
  return Buffer.concat([head, Buffer.from(Array.from({ length: width * height * 3 }, () => next() * 256))]);
}
