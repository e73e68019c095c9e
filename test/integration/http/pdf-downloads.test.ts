import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createDownloads } from '../../../src/http/downloads.ts';
import { OpenStreams } from '../../../src/limits/open-streams.ts';
import { LINKED_PER_WINDOW, RATE_WINDOW_MS } from '../../../src/limits/rate-limiter.ts';
import { eventually } from '../../support/eventually.ts';
import { largePdf, stall } from '../../support/stall.ts';
import { callApi, openApi, type TestApi, type TestCaller } from './support/api.ts';

const MOST = { pdfs: 4, results: 3, linked: 5 };

describe('downloads of PDFs', () => {
  let api: TestApi;
  let caller: TestCaller;
  let jobId: string;

  before(async function () {
    this.timeout(120_000);
    const { linkedByNetwork } = createDownloads();
    api = await openApi({
      trustedProxies: 1,
      downloads: {
        pdfs: new OpenStreams({ perAccount: MOST.pdfs, inAll: 100, what: 'PDFs' }),
        results: new OpenStreams({ perAccount: MOST.results, inAll: 100, what: 'PDFs' }),
        linked: new OpenStreams({ perAccount: MOST.linked, inAll: 100, what: 'downloads' }),
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

  /** Stalls so many downloads, has `meanwhile` look at what is answered then, and then at one more when one has gone. */
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
      await eventually('room again', async () => (await again()).status === 200, 20_000);
    } finally {
      for (const response of open) response.destroy();
    }
  }

  it('with an API key are so many of an account at a time', async () => {
    const path = `/v1/pdf/jobs/${jobId}/file`;
    const begin = () => stall(api.url + path, { headers: { 'x-api-key': caller.secret } });
    const refused = async () => {
      const { status, json, headers } = await caller.get(path);
      assert.deepEqual([status, json.code, headers.get('retry-after')], [429, 'TOO_MANY_WAITING', '5']);
      assert.equal((await fetchFrom(await link(), '198.51.100.1')).status, 200, 'signed addresses are apart');
    };
    await whileOpen(MOST.pdfs, begin, refused, () => caller.get(path));
  });

  it('that callers have waited for are so many of an account at a time; past that they are to be fetched', async () => {
    const order = { html: '<p>x</p>' };
    const begin = () => {
      const headers = { 'x-api-key': caller.secret, 'content-type': 'application/json' };
      return stall(`${api.url}/v1/pdf`, { method: 'POST', headers }, order);
    };
    const accepted = async () => {
      const { status, json } = await caller.render(order);
      assert.equal(status, 202);
      assert.equal((await caller.get(json.fileUrl)).status, 200);
    };
    await whileOpen(MOST.results, begin, accepted, () => caller.render(order));
  });

  it('by signed addresses are so many of an account at a time, from wherever', async () => {
    const url = await link();
    let networks = 0;
    const begin = () => {
      networks += 1;
      return stall(url, from(`198.51.100.${networks}`));
    };
    const refused = async () => {
      const { status, json } = await fetchFrom(url, '203.0.113.1');
      assert.deepEqual([status, json.code], [429, 'TOO_MANY_WAITING']);
      assert.equal(
        (await caller.get(`/v1/pdf/jobs/${jobId}/file`)).status,
        200,
        'the account itself goes on',
      );
    };
    await whileOpen(MOST.linked, begin, refused, () => fetchFrom(url, '203.0.113.1'));
  });

  it('by one signed address from one network are so many in a minute', async () => {
    api.worker.render = async () => ({ pages: 1 });
    const small = await caller.completed();
    const url = await link(small);
    // Into a window that has just begun: if one ended in between, more would be let in.
    let answer = await fetchFrom(url, '203.0.113.7');
    while (answer.status === 200) answer = await fetchFrom(url, '203.0.113.7');
    api.domain.clock.pass(1000 * Number(answer.headers.get('retry-after')));
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

describe('downloads by signed addresses from one network', () => {
  it('are sixteen of an account at a time', async function () {
    this.timeout(120_000);
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
      const refused = await callApi(api.url, 'GET', path, undefined, from('203.0.113.1'));
      assert.deepEqual([refused.status, refused.json.code], [429, 'TOO_MANY_WAITING']);
      assert.equal((await callApi(api.url, 'GET', path, undefined, from('203.0.113.2'))).status, 200);
      for (const response of open) response.destroy();
    } finally {
      await api.close();
    }
  });
});
