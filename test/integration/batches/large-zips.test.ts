import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type ZipEntry, zipSize, zipStream } from '../../../src/work/batches/zip.ts';
import { unzip, unzipFile } from '../../support/unzip.ts';

const DATE = new Date('2026-03-04T05:06:08Z');

interface File extends ZipEntry {
  readonly bytes: Buffer;
}

function file(name: string, size: number): File {
  return { name, size, bytes: randomBytes(size), date: DATE };
}

const stream = (files: File[]) =>
  zipStream(files, async ({ bytes }) => Readable.from([bytes], { objectMode: false }));

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('a zip past the limits of the old format', () => {
  it('counts more files than the old format can', async () => {
    const files = Array.from({ length: 65_537 }, (_, i) => file(`${i}`, 1));
    const bytes = await buffer(stream(files));
    assert.equal(bytes.length, zipSize(files));
    const found = await unzip(bytes);
    assert.equal(found.length, files.length);
    assert.equal(found.at(-1)!.sha256, sha256(files.at(-1)!.bytes));
  });

  it('finds files that begin past 4 GiB', async () => {
    const zeros = Buffer.alloc(4 * 1024 * 1024);
    const large = 384 * zeros.length;
    const last = file('last.pdf', 1000);
    const files = [
      ...[1, 2, 3].map((n) => ({ name: `${n}.pdf`, size: large, date: DATE, bytes: zeros })),
      last,
    ];
    const folder = await mkdtemp(join(tmpdir(), 'platen-zip-'));
    try {
      const handle = await open(join(folder, 'large.zip'), 'w');
      let at = 0;
      const source = zipStream(files, async ({ bytes, size }) =>
        Readable.from(repeated(bytes, size / bytes.length), { objectMode: false }),
      );
      for await (const chunk of source as AsyncIterable<Buffer>) {
        // What is zero is left out: the file is small on the disk.
        if (!zeros.subarray(0, chunk.length).equals(chunk)) await handle.write(chunk, 0, chunk.length, at);
        at += chunk.length;
      }
      await handle.close();
      assert.equal(at, zipSize(files));
      const found = await unzipFile(join(folder, 'large.zip'), 'last.pdf');
      assert.deepEqual(
        found.map(({ size }) => size),
        [large, large, large, 1000],
      );
      assert.equal(found[3]!.sha256, sha256(last.bytes));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

function* repeated(bytes: Buffer, times: number): Generator<Buffer> {
  for (let n = 0; n < times; n += 1) yield bytes;
}
