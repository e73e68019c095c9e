import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { itemJobId } from '../../../src/work/batches/batch.ts';
import { eventually } from '../../support/eventually.ts';
import { unzip } from '../../support/unzip.ts';
import { type TestCaller, useApi } from '../http/support/api.ts';
import { latch } from '../http/support/test-worker.ts';

const HOUR_MS = 3_600_000;
const LARGE = 3_000_000;

describe('the zip of a batch', () => {
  const api = useApi();
  let caller: TestCaller;
  /** What was rendered, by the id of the item. */
  let pdfs: Map<string, Buffer>;

  beforeEach(async () => {
    caller = await api.newCaller();
    pdfs = new Map();
  });

  const sha256 = (id: string) => createHash('sha256').update(pdfs.get(id)!).digest('hex');
  const status = async (id: string) => (await caller.get(`/v1/pdf/batch/${id}`)).json;
  const zip = (id: string, headers: Record<string, string> = {}) =>
    caller.call('GET', `/v1/pdf/batch/${id}/zip`, undefined, headers);

  /**
   * Starts a batch of which every PDF has so many bytes; an item whose id begins with `bad` fails.
   *
   * @param waits what an item's render waits for.
   */
  async function start(
    ids: readonly string[],
    bytes = 2000,
    filename?: string,
    waits: (id: string) => Promise<void> = async () => {},
  ): Promise<string> {
    api.worker.render = async ({ item }) => {
      await waits(item!.id);
      if (item!.id.startsWith('bad')) return { fails: new PlatenError('URL_UNREACHABLE') };
      const pdf = randomBytes(bytes);
      pdfs.set(item!.id, pdf);
      return { pages: 1, pdf };
    };
    const items = ids.map((id) => ({ id, html: `<p>${id}</p>`, ...(filename && { filename }) }));
    return (await caller.post('/v1/pdf/batch', { items })).json.jobId;
  }

  async function ended(...given: Parameters<typeof start>): Promise<string> {
    const id = await start(...given);
    await eventually('the batch has ended', async () => (await status(id)).finishedAt !== null);
    return id;
  }

  it('holds every completed item in order, byte for byte, and leaves out what failed', async () => {
    const ids = ['b', 'bad', 'a', 'Ünïcode', 'c/d'];
    const id = await ended(ids);
    const response = await zip(id);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'application/zip');
    assert.equal(response.headers.get('content-length'), String(response.bytes.length));
    assert.match(
      response.headers.get('content-disposition')!,
      new RegExp(`^attachment; filename="?${id}\\.zip"?$`),
    );
    assert.equal(response.headers.get('x-service-zip-items'), '4');
    assert.equal(response.headers.get('x-service-zip-pending'), '0');
    const found = await unzip(response.bytes);
    assert.deepEqual(
      found.map(({ name, sha256 }) => [name, sha256]),
      [
        ['b.pdf', sha256('b')],
        ['a.pdf', sha256('a')],
        ['Ünïcode.pdf', sha256('Ünïcode')],
        ['c_d.pdf', sha256('c/d')],
      ],
    );
    assert.equal((await status(id)).zipUrl, `/v1/pdf/batch/${id}/zip`);
  });

  it('names no two files alike, and none that could leave the folder', async () => {
    const id = await ended(['1', 'bad-2', '3', '4'], 100, '../../etc/Invoice.pdf');
    const found = await unzip((await zip(id)).bytes);
    const stem = found[0]!.name.replace(/\.pdf$/, '');
    // The second of that name failed; the others are called what they would be called beside it.
    assert.deepEqual(
      found.map(({ name }) => name),
      [`${stem}.pdf`, `${stem} (3).pdf`, `${stem} (4).pdf`],
    );
    assert.doesNotMatch(stem, /[\\/]|^\./);
  });

  it('is the same bytes each time, also of two readers at once, and after the jobs were moved to the history', async () => {
    const id = await ended(Array.from({ length: 120 }, (_, i) => `item-${i}`));
    const [first, second] = await Promise.all([zip(id), zip(id)]);
    await api.domain.flush();
    const third = await zip(id);
    for (const other of [second, third]) {
      assert.ok(Buffer.from(first.bytes).equals(other.bytes));
      assert.equal(other.headers.get('etag'), first.headers.get('etag'));
    }
    assert.equal((await unzip(first.bytes)).length, 120);
  });

  it('can be resumed where it broke off', async () => {
    const id = await ended(['a', 'b', 'c'], 200_000);
    const whole = await zip(id);
    const size = whole.bytes.length;
    const etag = whole.headers.get('etag')!;
    const chunks: Uint8Array[] = [];
    for (let at = 0; at < size; at += 170_000) {
      const end = at + 169_999;
      const part = await zip(id, { range: `bytes=${at}-${end}`, 'if-range': etag });
      assert.equal(part.status, 206);
      assert.equal(part.headers.get('content-range'), `bytes ${at}-${Math.min(end, size - 1)}/${size}`);
      assert.equal(part.headers.get('etag'), etag);
      chunks.push(part.bytes);
    }
    assert.ok(chunks.length >= 4);
    assert.ok(Buffer.concat(chunks).equals(whole.bytes));
    const rest = await zip(id, { range: 'bytes=5-' });
    assert.ok(Buffer.from(whole.bytes.subarray(5)).equals(rest.bytes));
    const last = await zip(id, { range: 'bytes=-22' });
    assert.ok(Buffer.from(whole.bytes.subarray(-22)).equals(last.bytes));
  });

  it('is sent whole for a range of another zip, for several ranges and for what is no range', async () => {
    const id = await ended(['a', 'b']);
    const size = (await zip(id)).bytes.length;
    const requests: Record<string, string>[] = [
      { range: 'bytes=10-', 'if-range': '"another"' },
      { range: 'bytes=10-', 'if-range': new Date().toUTCString() },
      { range: 'bytes=0-5,10-20' },
      { range: 'pages=1-2' },
      { range: 'bytes' },
    ];
    for (const headers of requests) {
      const response = await zip(id, headers);
      assert.deepEqual([response.status, response.bytes.length], [200, size], JSON.stringify(headers));
      assert.equal(response.headers.get('content-range'), null);
    }
    const beyond = await zip(id, { range: `bytes=${size}-` });
    assert.deepEqual([beyond.status, beyond.json.code], [416, 'RANGE_NOT_SATISFIABLE']);
    assert.equal(beyond.headers.get('content-range'), `bytes */${size}`);
  });

  it('holds the completed items before the batch has ended, and counts the pending ones', async () => {
    const held = latch();
    const id = await start(['a', 'b', 'c'], 2000, undefined, async (item) => {
      if (item !== 'a') await held.opened;
    });
    await eventually('one is completed', async () => (await status(id)).progress.completed === 1);
    const early = await zip(id);
    assert.equal(early.headers.get('x-service-zip-items'), '1');
    assert.equal(early.headers.get('x-service-zip-pending'), '2');
    assert.deepEqual(
      (await unzip(early.bytes)).map(({ name }) => name),
      ['a.pdf'],
    );
    held.open();
    await eventually('the batch has ended', async () => (await status(id)).finishedAt !== null);
    // A range of the early one is none of the later one.
    const late = await zip(id, { range: 'bytes=10-', 'if-range': early.headers.get('etag')! });
    assert.deepEqual([late.status, (await unzip(late.bytes)).length], [200, 3]);
  });

  it('is not there without a completed item, for another account, or for a batch that never was', async () => {
    const id = await ended(['bad-1', 'bad-2']);
    const none = await zip(id);
    assert.deepEqual([none.status, none.json.code, none.json.jobId], [404, 'NOT_FOUND', id]);
    const good = await ended(['a', 'b']);
    const other = await api.newCaller();
    assert.equal((await other.get(`/v1/pdf/batch/${good}/zip`)).status, 404);
    assert.equal((await zip('00000000-0000-4000-8000-000000000000')).status, 404);
  });

  it('is gone after the retention', async () => {
    const id = await ended(['a', 'b']);
    const { expiresAt } = await status(id);
    api.domain.clock.pass(Date.parse(expiresAt) - api.domain.clock.now().getTime() + HOUR_MS);
    const gone = await zip(id);
    assert.deepEqual([gone.status, gone.json.code], [410, 'GONE']);
  });

  it('closes its files when the reader goes away half-way, and breaks off when a PDF is missing', async () => {
    const id = await ended(['a', 'b', 'c', 'd'], LARGE);
    const openFiles = () =>
      readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).startsWith(api.outputFolder!);
        } catch {
          return false;
        }
      }).length;
    const open = async () => {
      const request = get(`${api.url}/v1/pdf/batch/${id}/zip`, { headers: { 'x-api-key': caller.secret } });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      return response;
    };
    const readers = await Promise.all([open(), open(), open()]);
    for (const reader of readers) await once(reader, 'readable');
    await eventually('each has one file open', () => openFiles() === readers.length);
    for (const reader of readers) reader.destroy();
    await eventually('none is open', () => openFiles() === 0);

    const { live, history } = api.domain.store;
    const jobId = itemJobId({ _id: id }, 2, 'c');
    const job = (await live.find(jobId)) ?? (await history.find(jobId));
    await api.outputs.delete(job!.output!.key);
    await assert.rejects(buffer(await open()), /aborted/);
    await eventually('none is open', () => openFiles() === 0);
  });
});
