import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { createFolderOutputStore } from '../../src/store/outputs/folder.ts';
import type { OutputKey } from '../../src/store/outputs/output-store.ts';
import { zipSize, zipStream } from '../../src/zip/zip.ts';

// Serves a zip of so many entries, which are the given outputs of a store in turn. Says where, and after each zip the
// bytes of memory it had at the most.
const [folder, entries, size, ...keys] = process.argv.slice(2) as [string, string, string, ...OutputKey[]];
const store = createFolderOutputStore(folder);
const date = new Date('2026-01-01');
const files = Array.from({ length: Number(entries) }, (_, i) => ({
  name: `document-${i}.pdf`,
  size: Number(size),
  date,
  key: keys[i % keys.length]!,
}));

let peak = 0;
const look = () => {
  peak = Math.max(peak, process.memoryUsage.rss());
};
setInterval(look, 20);

const server = createServer((request, response) => {
  if (request.url === '/memory') {
    look();
    response.end(JSON.stringify({ now: process.memoryUsage.rss(), peak }));
    return;
  }
  response.setHeader('Content-Length', zipSize(files));
  const source = zipStream(files, async ({ key }) => (await store.get(key))!.stream);
  pipeline(source, response, () => undefined);
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
