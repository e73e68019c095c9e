import assert from 'node:assert/strict';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type ZipEntry, zipSize, zipStream } from '../../../src/work/batches/zip.ts';
import { eventually } from '../../support/eventually.ts';
import { unzip } from '../../support/unzip.ts';

const DATE = new Date('2026-03-04T05:06:08Z');

interface File extends ZipEntry {
  readonly bytes: Buffer;
}

function file(name: string, size: number): File {
  return { name, size, bytes: randomBytes(size), date: DATE };
}

const stream = (files: File[], range?: { start: number; end: number }) =>
  zipStream(files, async ({ bytes }) => Readable.from([bytes], { objectMode: false }), range);

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('a zip', () => {
  it('holds what it was given, as another implementation reads it', async () => {
    const files = [
      file('a.pdf', 100_000),
      file('Überraschung 日本.pdf', 1),
      file('empty.pdf', 0),
      file('b (2).pdf', 70_001),
    ];
    const found = await unzip(await buffer(stream(files)));
    assert.deepEqual(
      found,
      files.map(({ name, size, bytes }) => ({
        name,
        size,
        sha256: sha256(bytes),
        date: [2026, 3, 4, 5, 6, 8],
      })),
    );
  });

  it('has the length that zipSize has computed, whatever is in it', async () => {
    for (const count of [0, 1, 2, 10, 40, 300]) {
      const files = Array.from({ length: count }, (_, i) =>
        file(`ä${i}`.repeat(randomInt(1, 9)), randomInt(0, 3000)),
      );
      assert.equal((await buffer(stream(files))).length, zipSize(files), `${count} files`);
    }
  });

  it('is the same bytes each time, and any range is a part of them', async () => {
    const files = Array.from({ length: 20 }, (_, i) => file(`${i}.pdf`, randomInt(1, 200_000)));
    const whole = await buffer(stream(files));
    assert.ok(whole.equals(await buffer(stream(files))));
    for (let round = 0; round < 30; round += 1) {
      const start = randomInt(0, whole.length);
      const end = round % 3 === 0 ? whole.length - 1 : randomInt(start, whole.length);
      const part = await buffer(stream(files, { start, end }));
      assert.ok(part.equals(whole.subarray(start, end + 1)), `${start}-${end} of ${whole.length}`);
    }
  });

  it('has one file open at a time, and none once nobody reads it', async () => {
    let openNow = 0;
    let most = 0;
    const files = Array.from({ length: 30 }, (_, i) => file(`${i}.pdf`, 300_000));
    const openFile = async ({ bytes }: File) => {
      openNow += 1;
      most = Math.max(most, openNow);
      const source = Readable.from([bytes], { objectMode: false });
      return source.once('close', () => {
        openNow -= 1;
      });
    };
    for (const stopAfter of [0, 1, 3, 17, 60]) {
      const reader = zipStream(files, openFile);
      let pieces = 0;
      for await (const _ of reader) {
        if (pieces === stopAfter) break;
        pieces += 1;
      }
      await eventually(`none is open, stopped after ${stopAfter}`, () => openNow === 0);
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal(openNow, 0, `stopped after ${stopAfter}`);
    }
    assert.equal(most, 1);
  });

  it('fails when a file is not as long as declared, cannot be opened or breaks off', async () => {
    const files = [file('a.pdf', 10), file('b.pdf', 10)];
    const short = zipStream(files, async () => Readable.from([Buffer.alloc(9)], { objectMode: false }));
    await assert.rejects(buffer(short), /promised/);
    const missing = zipStream(files, async () => Promise.reject(new Error('not there')));
    await assert.rejects(buffer(missing), /not there/);
    const broken = zipStream(files, async () => Readable.from(breaking(), { objectMode: false }));
    await assert.rejects(buffer(broken), /broke off/);
  });
});

async function* breaking(): AsyncGenerator<Buffer> {
  yield Buffer.alloc(5);
  throw new Error('it broke off');
}
