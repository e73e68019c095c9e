import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mock } from 'node:test';
import { createApi, PlatenApiError, PlatenClient } from '../../../clients/typescript/src/index.ts';

type Step = (request: IncomingMessage, response: ServerResponse) => void;

const JOB = '3f0e1c58-8a11-4a53-9a0b-1c1f1d4c9a11';
const INPUT = { html: '<p>x</p>' };
const PDF = Buffer.from('%PDF-1.7 and so on');

const rejectWith =
  (statusCode: number, code: string, fields: object = {}, headers: Record<string, string> = {}): Step =>
  (_, response) => {
    response.writeHead(statusCode, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ statusCode, error: 'x', message: 'x', code, requestId: 'r', ...fields }));
  };
const hangUp: Step = (request) => request.socket.destroy();
const pdf: Step = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/pdf', 'x-service-job-id': JOB });
  response.end(PDF);
};
const halfAPdf: Step = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/pdf', 'content-length': PDF.length });
  response.write(PDF.subarray(0, 5), () => response.destroy());
};
const silence: Step = () => undefined;

/** What goes wrong between a client and a service, step by step, on a real connection. */
describe('a client that meets trouble', () => {
  let server: Server;
  let steps: Step[];
  let seen: { method: string; key: string | undefined; body: string }[];
  let client: PlatenClient;
  let baseUrl: string;

  before(async () => {
    server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      const { 'idempotency-key': key } = request.headers;
      seen.push({ method: request.method!, key: key as string | undefined, body });
      (steps.shift() ?? hangUp)(request, response);
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  beforeEach(() => {
    seen = [];
    const retry = { firstMs: 20, longestMs: 100, giveUpAfterMs: 20_000, answerTimeoutMs: 3000 };
    client = new PlatenClient({ baseUrl, apiKey: 'sk_live_x', retry });
  });

  it('retries with the same key and body until it has a response', async () => {
    steps = [
      hangUp,
      rejectWith(503, 'UNAVAILABLE'),
      rejectWith(500, 'INTERNAL'),
      rejectWith(429, 'TOO_MANY_WAITING'),
      rejectWith(409, 'IDEMPOTENCY_IN_PROGRESS'),
      halfAPdf,
      silence,
      pdf,
    ];
    const { bytes, jobId } = await client.render(INPUT);
    assert.deepEqual([Buffer.from(bytes), jobId], [PDF, JOB]);
    assert.equal(seen.length, 8);
    assert.equal(new Set(seen.map(({ key }) => key)).size, 1);
    assert.match(seen[0]?.key ?? '', /^[0-9a-f-]{36}$/);
    assert.equal(new Set(seen.map(({ body }) => body)).size, 1);
  });

  it('names every call differently', async () => {
    steps = [pdf, pdf];
    await client.render(INPUT);
    await client.render(INPUT);
    assert.notEqual(seen[0]?.key, seen[1]?.key);
  });

  it('retries no sooner than Retry-After, and not at all when that is too late', async () => {
    steps = [rejectWith(429, 'RATE_LIMITED', {}, { 'retry-after': '1' }), pdf];
    const timers = mock.method(globalThis, 'setTimeout');
    await client.render(INPUT);
    const waits = timers.mock.calls.map(({ arguments: [, ms] }) => ms);
    timers.mock.restore();
    // What it was told to, and what it waits by itself at most.
    assert.ok(
      waits.some((ms) => ms! >= 1000 && ms! <= 1100),
      `waited for ${waits}`,
    );
    steps = [rejectWith(503, 'UNAVAILABLE', {}, { 'retry-after': '30' })];
    await assert.rejects(client.render(INPUT), { status: 503, code: 'UNAVAILABLE' });
    assert.equal(seen.length, 3);
  });

  it('does not retry an error that another attempt cannot resolve', async () => {
    for (const [status, code, fields] of [
      [400, 'VALIDATION', {}],
      [403, 'QUOTA_EXCEEDED', {}],
      [409, 'IDEMPOTENCY_MISMATCH', {}],
      [504, 'RENDER_TIMEOUT', { jobId: JOB }],
      [500, 'RENDER_FAILED', { jobId: JOB }],
    ] as const) {
      seen = [];
      steps = [rejectWith(status, code, fields)];
      await assert.rejects(client.render(INPUT), { status, code });
      assert.equal(seen.length, 1, code);
    }
  });

  it('retries a POST without a key only when it was rejected with 429', async () => {
    const api = createApi({ baseUrl, accessToken: 'x', retry: { firstMs: 20 } });
    const body = { name: 'key' };
    steps = [rejectWith(429, 'RATE_LIMITED'), rejectWith(503, 'UNAVAILABLE')];
    const { response } = await api.POST('/user/api-keys', { body });
    assert.equal(response.status, 503);
    assert.equal(seen.length, 2);
    steps = [hangUp];
    await assert.rejects(api.POST('/user/api-keys', { body }), { name: 'PlatenConnectionError' });
    assert.equal(seen.length, 3);
  });

  it('reports a response that did not come from the service', async () => {
    steps = [(_, response) => response.writeHead(403, { 'content-type': 'text/html' }).end('<h1>No</h1>')];
    await assert.rejects(client.job(JOB), (error: unknown) => {
      assert.ok(error instanceof PlatenApiError);
      assert.deepEqual([error.status, error.code, error.requestId], [403, undefined, undefined]);
      return true;
    });
  });

  it('takes a cancellation as done when the response to its first attempt was lost', async () => {
    const cancelled: Step = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jobId: JOB, status: 'cancelled', error: null }));
    };
    steps = [hangUp, rejectWith(409, 'JOB_ENDED'), cancelled];
    assert.equal((await client.cancel(JOB)).status, 'cancelled');
    assert.deepEqual(
      seen.map(({ method }) => method),
      ['DELETE', 'DELETE', 'GET'],
    );
  });
});
