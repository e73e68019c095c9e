import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Receiver } from '../integration/callbacks/support.ts';
import { CERTIFICATE } from '../integration/egress/support/certificate.ts';
import { eventually } from '../support/eventually.ts';
import { openKafkaService, SHORT_LEASE, type Tenant, type TestService } from '../support/service.ts';
import { type ReceivedSpan, TraceCollector } from '../support/trace-collector.ts';

const PHASES = ['page', 'load', 'wait', 'print', 'finish'];
const OF_ATTEMPT = ['attempt', 'claim', ...PHASES, 'store'];
const OF_RENDER = ['POST /v1/pdf', 'admission', 'waiting', ...OF_ATTEMPT];
const SECRET = 'what-nobody-may-read-in-a-trace';
const CALLER_SPAN = 'b7ad6b7169203331';

interface CallersTrace {
  readonly traceId: string;
  readonly headers: Record<string, string>;
}

function newTrace(flags = '01'): CallersTrace {
  const traceId = randomBytes(16).toString('hex');
  const headers = { traceparent: `00-${traceId}-${CALLER_SPAN}-${flags}`, tracestate: 'congo=t61rcWkgMzE' };
  return { traceId, headers };
}

describe('traces of renders by api, worker and dispatcher over Kafka', () => {
  let collector: TraceCollector;
  let receiver: Receiver;
  let service: TestService;
  let tenant: Tenant;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-traces-'));
    const authority = join(folder, 'ca.pem');
    await writeFile(authority, CERTIFICATE);
    collector = await TraceCollector.start();
    receiver = await Receiver.start();
    service = await openKafkaService({
      ...SHORT_LEASE,
      ...collector.environment,
      NODE_EXTRA_CA_CERTS: authority,
      PLATEN_PUBLIC_URL: 'https://platen.test',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-the-collector',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    });
    tenant = await service.newTenant('professional');
  });
  after(async () => {
    await service?.stop();
    await receiver?.close();
    await collector?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('are one trace, of the caller that began it, as far as the receiver of the callback', async () => {
    const { traceId, headers } = newTrace();
    const body = { html: `<p>${SECRET}</p>`, executionMode: 'async', webhookUrl: receiver.url() };
    const accepted = await tenant.client.render(body, headers);
    assert.equal(accepted.status, 202);
    const { jobId } = accepted.json;
    const spans = await collector.whole(traceId, [...OF_RENDER, 'callback']);
    assert.equal(spans.length, OF_RENDER.length + 1, spans.map(({ name }) => name).join());
    const named = (name: string) => spans.find((span) => span.name === name)!;
    const request = named('POST /v1/pdf');
    const attempt = named('attempt');
    assert.equal(request.parentSpanId, CALLER_SPAN);
    for (const name of ['admission', 'waiting', 'attempt', 'callback'])
      assert.equal(named(name).parentSpanId, request.spanId, name);
    for (const name of ['claim', ...PHASES, 'store'])
      assert.equal(named(name).parentSpanId, attempt.spanId, name);
    for (const [name, of] of Object.entries({
      'POST /v1/pdf': 'platen-api',
      attempt: 'platen-worker',
      callback: 'platen-dispatcher',
    }))
      assert.equal(named(name).service, of);
    for (const { name, start, end, traceState } of spans) {
      assert.ok(end >= start, name);
      assert.equal(traceState, 'congo=t61rcWkgMzE', name);
    }
    const order = ['waiting', ...PHASES, 'store'].map((name) => named(name).start);
    assert.deepEqual(order, order.toSorted(compare));
    const about = { 'platen.job.id': jobId, 'platen.account.id': tenant.accountId };
    for (const name of ['POST /v1/pdf', 'waiting', 'attempt', 'callback'])
      assert.partialDeepStrictEqual(named(name).attributes, about);
    assert.partialDeepStrictEqual(attempt.attributes, {
      'platen.outcome': 'completed',
      'platen.pool': 'default',
      'platen.mode': 'html',
    });
    assert.deepEqual(attempt.links, []);
    assert.equal(receiver.received[0]!.headers.traceparent, `00-${traceId}-${named('callback').spanId}-01`);
    assert.equal(receiver.received[0]!.headers.tracestate, 'congo=t61rcWkgMzE');
    assert.doesNotMatch(JSON.stringify(spans, withNumbers), new RegExp(`${SECRET}|127\\.9\\.9\\.1|@`));
    assert.ok(collector.requests.every(({ authorization }) => authorization === 'Bearer of-the-collector'));
  });

  it('are not recorded where the caller does not record its own, and go on to the receiver nevertheless', async () => {
    const { traceId, headers } = newTrace('00');
    const before = receiver.received.length;
    const body = { html: '<p>x', executionMode: 'async', webhookUrl: receiver.url() };
    assert.equal((await tenant.client.render(body, headers)).status, 202);
    await eventually('the callback', () => receiver.received.length > before);
    const { traceparent } = receiver.received.at(-1)!.headers;
    assert.match(String(traceparent), new RegExp(`^00-${traceId}-(?!${CALLER_SPAN})[0-9a-f]{16}-00$`));
    assert.deepEqual(collector.of(traceId), []);
  });

  it('hold a whole batch, with its callback', async () => {
    const { traceId, headers } = newTrace();
    const items = ['a', 'b'].map((id) => ({ id, html: `<p>${id}</p>` }));
    const body = { items, webhookUrl: receiver.url() };
    const batch = await tenant.client.call('POST', '/v1/pdf/batch', body, headers);
    assert.equal(batch.status, 202);
    const names = ['POST /v1/pdf/batch', 'admission', 'callback', ...OF_ATTEMPT, ...OF_ATTEMPT];
    const spans = await collector.whole(traceId, names);
    const attempts = spans.filter(({ name }) => name === 'attempt');
    assert.equal(new Set(attempts.map(({ spanId }) => spanId)).size, 2);
    for (const { attributes } of attempts) assert.equal(attributes['platen.batch.id'], batch.json.jobId);
  });

  it('begin here where the caller sends none that is valid', async () => {
    const hostile = [
      '00-00000000000000000000000000000000-b7ad6b7169203331-01',
      `00-${'0af7651916cd43dd8448eb211c80319c'.repeat(200)}-b7ad6b7169203331-01`,
      '{"$ne":null}',
    ];
    const before = new Set(collector.spans.map(({ traceId }) => traceId));
    for (const traceparent of hostile) {
      const reply = await tenant.client.render(
        { html: '<p>x' },
        { traceparent, tracestate: 'x'.repeat(4000) },
      );
      assert.ok([200, 202].includes(reply.status), `${reply.status}`);
    }
    const begun = () =>
      collector.spans.filter(({ name, traceId }) => name === 'POST /v1/pdf' && !before.has(traceId));
    await eventually('a trace for each', () => begun().length === hostile.length);
    assert.equal(new Set(begun().map(({ traceId }) => traceId)).size, hostile.length);
    for (const { parentSpanId, traceState } of begun()) assert.equal(parentSpanId + traceState, '');
  });

  it('are named by the durations of the worker, in the format of OpenMetrics alone', async () => {
    const { traceId, headers } = newTrace();
    const reply = await tenant.client.render({ html: '<p>x' }, headers);
    assert.ok([200, 202].includes(reply.status), `${reply.status}`);
    await collector.whole(traceId, ['attempt']);
    const { url } = service.roles.get('worker')!;
    const openMetrics = await fetch(`${url}/metrics`, {
      headers: {
        accept: 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
      },
    });
    assert.match(openMetrics.headers.get('content-type') ?? '', /^application\/openmetrics-text/);
    const named = new RegExp(
      `^platen_render_phase_duration_seconds_bucket\\{.*# \\{trace_id="${traceId}"\\}`,
      'm',
    );
    assert.match(await openMetrics.text(), named);
    const plain = await fetch(`${url}/metrics`);
    assert.match(plain.headers.get('content-type') ?? '', /^text\/plain/);
    assert.doesNotMatch(await plain.text(), /trace_id/);
  });

  it('go on with the attempt after that of a worker that was killed, which has a link to it', async () => {
    const { traceId, headers } = newTrace();
    const body = { html: '<p>x', executionMode: 'async', options: { delayMs: 3000 } };
    const { jobId } = (await tenant.client.render(body, headers)).json;
    await eventually('it is rendered', async () => {
      const { json } = await tenant.client.call('GET', `/v1/pdf/jobs/${jobId}`);
      return json.status === 'processing';
    });
    await service.roles.get('worker')!.end('SIGKILL');
    await service.restart('worker');
    assert.equal((await tenant.client.end(jobId)).status, 'completed');
    const spans = await collector.whole(traceId, [...OF_RENDER, 'attempt']);
    const [lost, last] = spans.filter(({ name }) => name === 'attempt').toSorted(byStart) as [
      ReceivedSpan,
      ReceivedSpan,
    ];
    assert.deepEqual([lost.service, last.service], ['platen-dispatcher', 'platen-worker']);
    assert.partialDeepStrictEqual(lost.attributes, {
      'platen.outcome': 'retried',
      'error.type': 'WORKER_LOST',
    });
    assert.equal(lost.status, 2);
    assert.equal(last.attributes['platen.outcome'], 'completed');
    assert.deepEqual(
      last.links.map((link) => [link.traceId, link.spanId]),
      [[traceId, lost.spanId]],
    );
    const { spanId } = spans.find(({ name }) => name === 'POST /v1/pdf')!;
    assert.deepEqual([lost.parentSpanId, last.parentSpanId], [spanId, spanId]);
  });

  it('are sent before a process ends', async () => {
    const { traceId, headers } = newTrace();
    const jobId = (await tenant.client.render({ html: '<p>x', executionMode: 'async' }, headers)).json.jobId;
    await tenant.client.end(jobId);
    await service.roles.get('worker')!.end('SIGTERM');
    assert.ok(collector.of(traceId).some(({ name }) => name === 'attempt'));
    await service.restart('worker');
  });

  it('are lost, and nothing else, without a collector', async () => {
    await collector.close();
    const ids = await Promise.all(
      Array.from({ length: 10 }, (_, i) => tenant.client.submit({ html: `<p>${i}</p>` })),
    );
    for (const id of ids) assert.equal((await tenant.client.end(id)).status, 'completed');
    const worker = service.roles.get('worker')!;
    const line = await worker.logged(({ msg }) => String(msg).includes('spans of traces could not be sent'));
    assert.equal(line.level, 'warn');
    assert.equal(await worker.end('SIGTERM'), 0);
  });
});

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : Number(a > b);
}

function byStart(a: ReceivedSpan, b: ReceivedSpan): number {
  return compare(a.start, b.start);
}

function withNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
