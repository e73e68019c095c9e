import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createFolderOutputStore } from '../../../src/store/outputs/folder.ts';
import { type OutputKey, outputKey } from '../../../src/store/outputs/output-store.ts';
import { zipSize } from '../../../src/zip/zip.ts';

const MIB = 1024 * 1024;
const CHILD = fileURLToPath(new URL('../../support/zip-child.ts', import.meta.url));
const ITEMS = 1000;
/** A thousand of them are 500 MB. */
const ITEM_BYTES = 500_000;
const OUTPUTS = 10;
const MOST_MORE = 64 * MIB;

describe('the memory that a zip of 1,000 items and 500 MB takes', () => {
  let folder: string;
  let child: ChildProcess;
  let url: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-zip-'));
    const store = createFolderOutputStore(folder);
    const keys: OutputKey[] = [];
    for (let i = 0; i < OUTPUTS; i += 1) {
      keys.push(outputKey(`job-${i}`, 1, new Date(Date.now() + 86_400_000)));
      await store.put(keys[i]!, randomBytes(ITEM_BYTES));
    }
    child = spawn(process.execPath, [CHILD, folder, String(ITEMS), String(ITEM_BYTES), ...keys], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(child.stdout!, 'data')) as [Buffer];
    url = `http://127.0.0.1:${line.toString().trim()}`;
  });
  afterEach(async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true, force: true });
  });

  const memory = async () => (await (await fetch(`${url}/memory`)).json()) as { now: number; peak: number };
  const ask = async () => ((await once(get(url), 'response')) as [IncomingMessage])[0];

  /** @param pauseMs after every 16 MiB. */
  async function read(answer: IncomingMessage, pauseMs: number): Promise<number> {
    let bytes = 0;
    let rested = 0;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes - rested < 16 * MIB) continue;
      rested = bytes;
      await sleep(pauseMs);
    }
    return bytes;
  }

  it('is less than 64 MiB for a slow reader, and less than that for each of two at once', async function () {
    this.timeout(120_000);
    // When garbage is collected is not ours to say; what is held is held in every process that is asked.
    this.retries(2);
    const date = new Date('2026-01-01');
    const size = zipSize(
      Array.from({ length: ITEMS }, (_, i) => ({ name: `document-${i}.pdf`, size: ITEM_BYTES, date })),
    );
    const before = (await memory()).now;
    assert.equal(await read(await ask(), 100), size);
    const more = (await memory()).peak - before;
    assert.deepEqual(await Promise.all([read(await ask(), 50), read(await ask(), 0)]), [size, size]);
    const moreForTwo = (await memory()).peak - before;
    const told = `${inMib(more)} MiB more than the ${inMib(before)} MiB before; ${inMib(moreForTwo)} for two`;
    console.log(`      ${told}`);
    assert.ok(more < MOST_MORE, told);
    assert.ok(moreForTwo < 2 * MOST_MORE, told);
  });
});

function inMib(bytes: number): number {
  return Math.round(bytes / MIB);
}
