import assert from 'node:assert/strict';
import { once } from 'node:events';
import { eventually } from '../../support/eventually.ts';
import { largePdf, stall } from '../../support/stall.ts';
import { type TestCaller, useApi } from '../http/support/api.ts';

describe('downloads of batches at a time', () => {
  const api = useApi();
  let caller: TestCaller;
  let batchId: string;

  before(async () => {
    const pdf = await largePdf();
    api.worker.render = async () => ({ pages: 1, pdf });
    caller = await api.newCaller();
    const items = ['a', 'b'].map((id) => ({ id, html: '<p>x</p>' }));
    batchId = (await caller.post('/v1/pdf/batch', { items })).json.jobId;
    const status = () => caller.get(`/v1/pdf/batch/${batchId}`);
    await eventually('its end', async () => (await status()).json.finishedAt !== null);
  });

  const stalled = (path: string) => stall(`${api.url}${path}`, { headers: { 'x-api-key': caller.secret } });

  for (const [what, most] of [
    ['zip', 8],
    ['pdf', 2],
  ] as const) {
    it(`are ${most} of an account for its ${what}; a caller that goes away makes room`, async () => {
      const path = `/v1/pdf/batch/${batchId}/${what}`;
      const open = await Promise.all(Array.from({ length: most }, () => stalled(path)));
      for (const { statusCode } of open) assert.equal(statusCode, 200);
      const refused = await caller.get(path);
      assert.deepEqual([refused.status, refused.json.code], [429, 'TOO_MANY_WAITING']);
      assert.equal(refused.headers.get('retry-after'), '5');
      assert.equal((await caller.get(`/v1/pdf/batch/${batchId}`)).status, 200, 'nothing else is refused');
      const other = await api.newCaller();
      assert.equal((await other.get(path)).status, 404, 'nor is somebody else');
      open[0]!.destroy();
      await once(open[0]!, 'close');
      await eventually('room again', async () => (await caller.get(path)).status === 200);
      for (const response of open) response.destroy();
    });
  }

  it('are eight of an account for its manifests, though they need no credential', async () => {
    const link = (await caller.get(`/v1/pdf/batch/${batchId}/manifest/download-url`)).json.url;
    const { pathname } = new URL(link);
    const gate = Promise.withResolvers<void>();
    const { store } = api.domain.batches;
    const chunk = store.chunk.bind(store);
    let asked = 0;
    // As slow as a database that has much to do.
    store.chunk = async (...of) => {
      asked += 1;
      await gate.promise;
      return chunk(...of);
    };
    const open = Array.from({ length: 8 }, () => fetch(`${api.url}${pathname}`));
    await eventually('all are being made', () => asked === 8);
    assert.equal((await fetch(`${api.url}${pathname}`)).status, 429);
    gate.resolve();
    for (const reply of open) {
      const { items } = (await (await reply).json()) as { items: unknown[] };
      assert.equal(items.length, 2);
    }
    Reflect.deleteProperty(store, 'chunk');
    assert.equal((await fetch(`${api.url}${pathname}`)).status, 200);
  });

  it('hold no permit when they are rejected, requested by HEAD, or complete', async () => {
    const small = await api.newCaller();
    api.worker.render = async () => ({ pages: 1 });
    const items = ['a', 'b'].map((id) => ({ id, html: '<p>x</p>' }));
    const { jobId } = (await small.post('/v1/pdf/batch', { items })).json;
    const path = `/v1/pdf/batch/${jobId}/zip`;
    await eventually('it is completed', async () => (await small.get(path)).status === 200);
    for (let i = 0; i < 10; i += 1) {
      assert.equal((await small.get(`/v1/pdf/batch/${batchId}/zip`)).status, 404);
      const range = { range: 'bytes=999999999-' };
      assert.equal((await small.call('GET', path, undefined, range)).status, 416);
      assert.equal((await small.call('HEAD', path)).status, 200);
      assert.equal((await small.get(path)).status, 200);
    }
  });
});
