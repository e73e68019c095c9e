import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { machineMemory } from '../../src/infra/machine/machine-memory.ts';
import { createFolderOutputStore } from '../../src/infra/outputs/folder.ts';
import type { OutputKey, OutputStore } from '../../src/infra/outputs/output-store.ts';
import { createPdfMerger } from '../../src/render/pdf/merge.ts';
import { zipSize, zipStream } from '../../src/work/batches/zip.ts';
import { descendants, procFile } from './processes.ts';

// Serves a zip (/zip?items=10) and a merged PDF (/merged?items=10) of the first entries, which repeat the given outputs
// of a store. Prints its address; and serves (/memory) the bytes of memory that it has, its maximum, and the maximum of
// a merging process.
const [location, entries, size, ...keys] = process.argv.slice(2) as [string, string, string, ...OutputKey[]];
const store = location.startsWith('mongodb') ? await openGridFs() : createFolderOutputStore(location);
const merger = createPdfMerger({ memoryBytes: machineMemory().total });
const date = new Date('2026-01-01');
const files = Array.from({ length: Number(entries) }, (_, i) => ({
  name: `document-${i}.pdf`,
  size: Number(size),
  date,
  key: keys[i % keys.length]!,
}));
const open = async ({ key }: { key: OutputKey }) => (await store.get(key))!.stream;

let peak = 0;
const check = () => {
  peak = Math.max(peak, process.memoryUsage.rss());
};
setInterval(check, 20);

/** What serves files of a folder has no driver of a database in memory. */
async function openGridFs(): Promise<OutputStore> {
  const { pino } = await import('pino');
  const { connectDatabase } = await import('../../src/infra/store/connection.ts');
  const { createGridFsOutputStore } = await import('../../src/infra/outputs/gridfs.ts');
  return createGridFsOutputStore(await connectDatabase(location, pino({ level: 'silent' })));
}

/** Bytes that one of the merging processes had at the most; 0 before they were started. */
function mergerPeak(): number {
  const peaks = descendants(process.pid).map(({ pid }) => {
    const highest = /^VmHWM:\s+(\d+) kB/m.exec(procFile(pid, 'status'));
    return Number(highest?.[1] ?? 0) * 1024;
  });
  return Math.max(0, ...peaks);
}

const server = createServer((request, response) => {
  if (request.url === '/memory') {
    check();
    response.end(JSON.stringify({ now: process.memoryUsage.rss(), peak, mergerPeak: mergerPeak() }));
    return;
  }
  const { pathname, searchParams } = new URL(request.url!, 'http://localhost');
  const wanted = files.slice(0, Number(searchParams.get('items')));
  let source: Readable;
  if (pathname === '/merged') {
    const sources = wanted.map((file) => ({
      title: file.name,
      bytes: file.size,
      read: async () => buffer(await open(file)),
    }));
    source = merger.merge(sources, { account: 'one', signal: new AbortController().signal });
  } else {
    response.setHeader('Content-Length', zipSize(wanted));
    source = zipStream(wanted, open);
  }
  pipeline(source, response, () => undefined);
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
