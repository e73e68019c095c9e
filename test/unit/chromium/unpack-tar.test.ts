import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { unpackTar } from '../../../src/render/chromium/process/unpack-tar.ts';

const BLOCK = 512;
const FILE = '0';
const HARD_LINK = '1';
const SYMBOLIC_LINK = '2';

/** One entry of a ustar archive (POSIX.1-1988): its header, and its text in whole blocks. */
function entry(name: string, text: string, type = FILE, linkName = ''): Buffer {
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0);
  header.write('0000600\0', 100);
  header.write('0001750\0', 108);
  header.write('0001750\0', 116);
  header.write(`${Buffer.byteLength(text).toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write(type, 156);
  header.write(linkName, 157);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const body = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / BLOCK) * BLOCK);
  body.write(text);
  return Buffer.concat([header, body]);
}

describe('unpacking a tar archive', () => {
  let outside: string;
  let folder: string;
  beforeEach(() => {
    outside = mkdtempSync(join(tmpdir(), 'platen-tar-'));
    folder = join(outside, 'inside');
  });
  afterEach(() => rmSync(outside, { recursive: true }));

  const unpack = (...entries: Buffer[]) =>
    pipeline(Readable.from([...entries, Buffer.alloc(2 * BLOCK)]), unpackTar(folder));
  const read = (path: string) => readFileSync(join(folder, path), 'utf8');

  it('writes its files, in folders that it does not name, readable by everybody', async () => {
    const long = 'x'.repeat(BLOCK + 1);
    await unpack(entry('fonts/a.ttf', 'A'), entry('b', long), entry('empty', ''));
    assert.deepEqual([read('fonts/a.ttf'), read('b'), read('empty')], ['A', long, '']);
    assert.equal(statSync(join(folder, 'b')).mode & 0o777, 0o644);
    assert.equal(statSync(join(folder, 'b')).uid, process.getuid!());
  });

  it('keeps a name that leads out of the folder below it', async () => {
    await unpack(entry('../evil', 'A'), entry('/etc/evil', 'B'), entry('a/../../worse', 'C'));
    assert.deepEqual([read('evil'), read('etc/evil'), read('worse')], ['A', 'B', 'C']);
    assert.deepEqual(readdirSync(outside), ['inside']);
    assert.ok(!existsSync('/etc/evil'));
  });

  it('leaves out links, and writes through none', async () => {
    await unpack(
      entry('out', '', SYMBOLIC_LINK, '..'),
      entry('passwd', '', HARD_LINK, '/etc/passwd'),
      entry('out/a', 'A'),
    );
    assert.deepEqual(readdirSync(folder), ['out']);
    assert.equal(read('out/a'), 'A');
    assert.deepEqual(readdirSync(outside), ['inside']);
  });

  it('fails when the archive is cut off', async () => {
    const archive = entry('a', 'A'.repeat(3 * BLOCK));
    await assert.rejects(pipeline(Readable.from([archive.subarray(0, 2 * BLOCK)]), unpackTar(folder)));
  });
});
