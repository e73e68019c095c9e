import assert from 'node:assert/strict';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { eventually } from '../../support/eventually.ts';
import { unzip } from '../../support/unzip.ts';
import { callApi, type TestCaller, useApi } from '../http/support/api.ts';
import { latch } from '../http/support/test-worker.ts';

const MINUTE_MS = 60_000;
const ITEMS = 120;

describe('the manifest of a batch', () => {
  const api = useApi();
  let caller: TestCaller;

  beforeEach(async () => {
    caller = await api.newCaller();
  });

  const status = async (id: string) => (await caller.get(`/v1/pdf/batch/${id}`)).json;
  const address = (id: string) => caller.get(`/v1/pdf/batch/${id}/manifest/download-url`);
  const fetchManifest = (url: string) => callApi(api.url, 'GET', new URL(url).pathname);

  async function start(): Promise<string> {
    const items = Array.from({ length: ITEMS }, (_, i) => ({
      id: `item-${i}`,
      html: '<p>x</p>',
      filename: i < 3 ? 'same' : `"own" ${i}`,
    }));
    return (await caller.post('/v1/pdf/batch', { items })).json.jobId;
  }

  const finished = (id: string) =>
    eventually('the batch has ended', async () => (await status(id)).finishedAt !== null);

  it('has what became of every item, and agrees with the zip', async () => {
    api.worker.render = async ({ item }) =>
      item!.id === 'item-1' ? { fails: new PlatenError('URL_UNREACHABLE', 'No such host.') } : { pages: 2 };
    const id = await start();
    await finished(id);
    const link = await address(id);
    assert.equal(link.status, 200);
    const life = Date.parse(link.json.expiresAt) - api.domain.clock.now().getTime();
    assert.ok(life > 14 * MINUTE_MS && life <= 15 * MINUTE_MS);
    const response = await fetchManifest(link.json.url);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-disposition'), `attachment; filename=${id}.json`);
    const manifest = response.json;
    assert.deepEqual(Object.keys(manifest), ['jobId', 'createdAt', 'items']);
    assert.deepEqual([manifest.jobId, manifest.createdAt], [id, (await status(id)).createdAt]);
    assert.equal(manifest.items.length, ITEMS);
    assert.deepEqual(manifest.items[1], {
      itemId: 'item-1',
      fileName: 'same (2).pdf',
      status: 'failed',
      size: 0,
      pages: 0,
      sha256: null,
      error: { code: 'URL_UNREACHABLE', message: 'No such host.' },
    });
    assert.deepEqual([manifest.items[2].pages, manifest.items[2].error], [2, null]);
    const zip = await unzip((await caller.get(`/v1/pdf/batch/${id}/zip`)).bytes);
    const completed = manifest.items.filter((item: { sha256: string | null }) => item.sha256 !== null);
    assert.deepEqual(
      completed.map(({ fileName, size, sha256 }: Record<string, unknown>) => [fileName, size, sha256]),
      zip.map(({ name, size, sha256 }) => [name, size, sha256]),
    );
    await api.domain.flush();
    assert.ok(
      Buffer.from((await fetchManifest(link.json.url)).bytes).equals(response.bytes),
      'from the history',
    );
  });

  it('is there when the batch has ended, for its owner, until its retention ends', async () => {
    const held = latch();
    api.worker.render = async () => {
      await held.opened;
      return { pages: 1 };
    };
    const id = await start();
    assert.deepEqual([(await status(id)).manifestAvailable, (await address(id)).status], [false, 404]);
    held.open();
    await finished(id);
    assert.equal((await status(id)).manifestAvailable, true);
    const other = await api.newCaller();
    assert.equal((await other.get(`/v1/pdf/batch/${id}/manifest/download-url`)).status, 404);
    const early = (await address(id)).json.url;
    const end = Date.parse((await status(id)).expiresAt);
    api.domain.clock.pass(end - 5 * MINUTE_MS - api.domain.clock.now().getTime());
    assert.equal((await fetchManifest(early)).status, 404, 'after a quarter of an hour');
    const late = (await address(id)).json;
    assert.equal(Date.parse(late.expiresAt), end);
    assert.equal((await fetchManifest(late.url)).status, 200);
    api.domain.clock.pass(6 * MINUTE_MS);
    assert.equal((await fetchManifest(late.url)).status, 404);
    const gone = await address(id);
    assert.deepEqual([gone.status, gone.json.code], [410, 'GONE']);
  });

  it('is not what another link leads to', async () => {
    api.worker.render = async () => ({ pages: 1 });
    const id = await start();
    await finished(id);
    const manifest = new URL((await address(id)).json.url).pathname;
    const item = new URL((await caller.get(`/v1/pdf/batch/${id}/items/item-0/download-url`)).json.url)
      .pathname;
    assert.equal((await callApi(api.url, 'GET', item)).status, 200);
    assert.equal((await callApi(api.url, 'GET', `${item}/manifest`)).status, 404);
    assert.equal((await callApi(api.url, 'GET', manifest.replace(/\/manifest$/, ''))).status, 404);
  });
});
