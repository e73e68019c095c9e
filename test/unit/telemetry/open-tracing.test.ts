import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { loadConfig } from '../../../src/config/config.ts';
import { openTracing } from '../../../src/infra/tracing/open-tracing.ts';
import { headersOf } from '../../../src/infra/tracing/otlp-tracing.ts';
import { TraceCollector } from '../../support/trace-collector.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const RECORDED = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` };
const UNRECORDED = { traceparent: `00-${TRACE}-b7ad6b7169203331-00` };

const open = (environment: Record<string, string>) =>
  openTracing(loadConfig('standalone', environment), {
    role: 'worker',
    instance: 'one',
    logger: pino({ level: 'silent' }),
  });

describe('tracing', () => {
  let collector: TraceCollector;
  before(async () => {
    collector = await TraceCollector.start();
  });
  after(() => collector.close());

  const sampledBy = async (sampler: string, ratio = '1') => {
    const tracing = await open({
      ...collector.environment,
      OTEL_TRACES_SAMPLER: sampler,
      OTEL_TRACES_SAMPLER_ARG: ratio,
    });
    const recorded = [undefined, RECORDED, UNRECORDED].map((parent) => {
      const span = tracing.startSpan('a', { parent });
      span.end();
      return span.context!.traceparent.endsWith('-01');
    });
    await tracing.stop();
    return recorded;
  };
  for (const [sampler, ratio, begun, ofRecorded, ofUnrecorded] of [
    ['always_on', '0', true, true, true],
    ['always_off', '1', false, false, false],
    ['traceidratio', '0', false, false, false],
    ['traceidratio', '1', true, true, true],
    ['parentbased_always_on', '0', true, true, false],
    ['parentbased_always_off', '1', false, true, false],
    ['parentbased_traceidratio', '0', false, true, false],
  ] as const) {
    it(`records what ${sampler} of ${ratio} lets through: begun here, continued, and not recorded`, async () => {
      assert.deepEqual(await sampledBy(sampler, ratio), [begun, ofRecorded, ofUnrecorded]);
    });
  }

  it('keeps the times of spans that began before the process, and their given ids', async () => {
    const tracing = await open(collector.environment);
    const spanId = 'aaaaaaaaaaaaaaaa';
    const at = Date.UTC(2020, 0, 1, 0, 0, 0, 125);
    const span = tracing.startSpan('early', { startTime: at, spanId, attributes: { a: undefined, b: 1 } });
    span.end({ endTime: at + 0.5, error: 'RENDER_FAILED' });
    await tracing.stop();
    const early = collector.spans.find(({ name }) => name === 'early')!;
    assert.equal(early.spanId, spanId);
    assert.equal(early.start, BigInt(at) * 1_000_000n);
    assert.equal(early.end - early.start, 500_000n);
    assert.deepEqual(early.attributes, { b: 1 });
    assert.equal(early.status, 2);
    assert.equal(early.service, 'platen-worker');
  });

  it('keeps 2,048 spans beside those on their way, loses the others, and stops, where nobody responds', async () => {
    let sent = 0;
    const silent = createServer(async (request) => {
      sent += (await text(request)).split('"spanId"').length - 1;
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const tracing = await open({ ...endpointOf(silent), OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' });
    for (let i = 0; i < 100_000; i += 1) tracing.startSpan('a').end();
    await tracing.stop();
    assert.equal(sent, 512 + 2048);
    silent.closeAllConnections();
    silent.close();
  });

  it('sends protobuf or JSON', async () => {
    const types: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      types.push(request.headers['content-type']);
      request.resume().on('end', () => response.end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    for (const protocol of ['http/protobuf', 'http/json']) {
      const tracing = await open({ ...endpointOf(server), OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol });
      tracing.startSpan('a').end();
      await tracing.stop();
    }
    assert.deepEqual(types, ['application/x-protobuf', 'application/json']);
    server.closeAllConnections();
    server.close();
  });

  it('is off without a collector, or where it is disabled: there are no spans, and the SDK is not loaded', () => {
    const program = `
      import { registerHooks } from 'node:module';
      const loaded = [];
      registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
      const { loadConfig } = await import('./src/config/config.ts');
      const { openTracing } = await import('./src/infra/tracing/open-tracing.ts');
      const found = [];
      for (const environment of JSON.parse(process.argv[1])) {
        const tracing = await openTracing(loadConfig('standalone', environment), { role: 'worker', instance: 'one' });
        const { context } = tracing.startSpan('a', { parent: ${JSON.stringify(RECORDED)} });
        found.push([tracing.on, context === undefined, loaded.some((url) => url.includes('@opentelemetry'))]);
        await tracing.stop();
      }
      console.log(JSON.stringify(found));`;
    const environments = [
      {},
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_SDK_DISABLED: 'True' },
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:9/v1/traces' },
    ];
    const args = ['--input-type=module', '--eval', program, JSON.stringify(environments)];
    const found = execFileSync(process.execPath, args, { encoding: 'utf8' });
    assert.deepEqual(JSON.parse(found), [
      [false, true, false],
      [false, true, false],
      [true, false, true],
    ]);
  });

  it('takes headers as they are encoded, and rejects what is none', () => {
    assert.deepEqual(headersOf('authorization=Bearer%20a%3D%2Cb, x-scope=a=b'), {
      authorization: 'Bearer a=,b',
      'x-scope': 'a=b',
    });
    for (const headers of ['no pair', 'a=%zz', '=b', 'a=b,,c=d'])
      assert.throws(
        () => loadConfig('standalone', { OTEL_EXPORTER_OTLP_HEADERS: headers }),
        /OTEL_EXPORTER_OTLP_HEADERS: must be pairs/,
      );
    assert.throws(() => loadConfig('standalone', { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }), /http\/protobuf/);
  });
});

function endpointOf(server: Server): Record<string, string> {
  const { port } = server.address() as AddressInfo;
  return { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
}
