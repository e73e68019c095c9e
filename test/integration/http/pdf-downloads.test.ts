import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createDownloads } from '../../../src/infra/overload/downloads.ts';
import { openStreams } from '../../../src/infra/overload/open-streams.ts';
import { LINKED_PER_WINDOW, RATE_WINDOW_MS } from '../../../src/tenants/limits/rate-limiter.ts';
import { eventually } from '../../support/eventually.ts';
import { largePdf, stall } from '../../support/stall.ts';
import { callApi, openApi, type TestApi, type TestCaller } from './support/api.ts';

const MOST = { pdfs: 4, results: 3, linked: 5 };

describe('Downloads of PDFs', () => {
  let api: TestApi;
  let caller: TestCaller;
  let jobId: string;

  before(async () => {
    const { linkedByNetwork } = createDownloads();
    api = await openApi({
      trustedProxies: 1,
      downloads: {
        pdfs: openStreams({ perOwner: MOST.pdfs, inAll: 100 }, 'PDFs'),
        results: openStreams({ perOwner: MOST.results, inAll: 100 }, 'PDFs'),
        linked: openStreams({ perOwner: MOST.linked, inAll: 100 }, 'downloads'),
        linkedByNetwork,
      },
    });
    const pdf = await largePdf();
    api.worker.render = async () => ({ pages: 1, pdf });
    caller = await api.newCaller();
    jobId = await caller.completed();
  });
  after(() => api.close());

  const link = async (id = jobId) =>
    api.url + new URL((await caller.get(`/v1/pdf/jobs/${id}/download-url`)).json.url).pathname;
  const from = (network: string) => ({ headers: { 'x-forwarded-for': network } });
  const fetchFrom = (url: string, network: string) =>
    callApi(api.url, 'GET', new URL(url).pathname, undefined, from(network).headers);

  /** Stalls this many downloads and calls `meanwhile`; then ends one download and sends one more request. */
  async function whileOpen(
    count: number,
    begin: () => Promise<IncomingMessage>,
    meanwhile: () => Promise<void>,
    again: () => Promise<{ readonly status: number }>,
  ): Promise<void> {
    const open: IncomingMessage[] = [];
    try {
      for (let i = 0; i < count; i += 1) open.push(await begin());
      for (const { statusCode } of open) assert.equal(statusCode, 200);
      await meanwhile();
      open[0]!.destroy();
      await once(open[0]!, 'close');
      await eventually('room again', async () => (await again()).status === 200);
    } finally {
      for (const response of open) response.destroy();
    }
  }

  it('with an API key are bounded for each account', async () => {
    const path = `/v1/pdf/jobs/${jobId}/file`;
    const begin = () => stall(api.url + path, { headers: { 'x-api-key': caller.secret } });
    const rejected = async () => {
      const { status, json, headers } = await caller.get(path);
      assert.deepEqual([status, json.code, headers.get('retry-after')], [429, 'TOO_MANY_WAITING', '5']);
      assert.equal((await fetchFrom(await link(), '198.51.100.1')).status, 200, 'signed addresses are apart');
    };
    await whileOpen(MOST.pdfs, begin, rejected, () => caller.get(path));
  });

  it('in response to a render are bounded for each account, and past the bound the response is 202', async () => {
    const body = { html: '<p>x</p>' };
    const begin = () => {
      const headers = { 'x-api-key': caller.secret, 'content-type': 'application/json' };
      return stall(`${api.url}/v1/pdf`, { method: 'POST', headers }, body);
    };
    const accepted = async () => {
      const { status, json } = await caller.render(body);
      assert.equal(status, 202);
      assert.equal((await caller.get(json.fileUrl)).status, 200);
    };
    await whileOpen(MOST.results, begin, accepted, () => caller.render(body));
  });

  it('by signed addresses are bounded for each account, over all networks', async () => {
    const url = await link();
    let networks = 0;
    const begin = () => {
      networks += 1;
      return stall(url, from(`198.51.100.${networks}`));
    };
    const rejected = async () => {
      const { status, json } = await fetchFrom(url, '203.0.113.1');
      assert.deepEqual([status, json.code], [429, 'TOO_MANY_WAITING']);
      assert.equal(
        (await caller.get(`/v1/pdf/jobs/${jobId}/file`)).status,
        200,
        'the account itself goes on',
      );
    };
    await whileOpen(MOST.linked, begin, rejected, () => fetchFrom(url, '203.0.113.1'));
  });

  it('by one signed address from one network are bounded for a minute', async () => {
    api.worker.render = async () => ({ pages: 1 });
    const small = await caller.completed();
    const url = await link(small);
    // At the beginning of a window: if one ended in between, more would be accepted.
    let reply = await fetchFrom(url, '203.0.113.7');
    while (reply.status === 200) reply = await fetchFrom(url, '203.0.113.7');
    api.domain.clock.pass(1000 * Number(reply.headers.get('retry-after')));
    const statuses = new Set<number>();
    for (let i = 0; i < LINKED_PER_WINDOW; i += 1) statuses.add((await fetchFrom(url, '203.0.113.7')).status);
    assert.deepEqual([...statuses], [200]);
    const { status, json, headers } = await fetchFrom(url, '203.0.113.7');
    assert.deepEqual([status, json.code], [429, 'RATE_LIMITED']);
    const wait = Number(headers.get('retry-after'));
    assert.ok(wait >= 1 && wait <= RATE_WINDOW_MS / 1000, `${wait} s`);
    assert.equal(
      (await fetchFrom(await link(small), '203.0.113.7')).status,
      429,
      'nor by a new address of it',
    );
    assert.equal((await fetchFrom(url, '203.0.113.8')).status, 200, 'others are served');
    api.domain.clock.pass(RATE_WINDOW_MS);
    assert.equal((await fetchFrom(url, '203.0.113.7')).status, 200);
  });
});

describe('Downloads by signed addresses from one network', () => {
  it('are limited to 16 of an account at a time', async () => {
    const api = await openApi({ trustedProxies: 1 });
    try {
      const pdf = await largePdf();
      api.worker.render = async () => ({ pages: 1, pdf });
      const caller = await api.newCaller();
      const { url } = (await caller.get(`/v1/pdf/jobs/${await caller.completed()}/download-url`)).json;
      const path = new URL(url).pathname;
      const from = (network: string) => ({ 'x-forwarded-for': network });
      const open: IncomingMessage[] = [];
      for (let i = 0; i < 16; i += 1)
        open.push(await stall(api.url + path, { headers: from('203.0.113.1') }));
      const rejected = await callApi(api.url, 'GET', path, undefined, from('203.0.113.1'));
      assert.deepEqual([rejected.status, rejected.json.code], [429, 'TOO_MANY_WAITING']);
      assert.equal((await callApi(api.url, 'GET', path, undefined, from('203.0.113.2'))).status, 200);
      for (const response of open) response.destroy();
    } finally {
      await api.close();
    }
  });
});
