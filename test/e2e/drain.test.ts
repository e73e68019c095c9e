import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Connection } from 'mongoose';
import { pino } from 'pino';
import { systemClock } from '../../src/infra/clock.ts';
import { connectDatabase } from '../../src/infra/store/connection.ts';
import { WorkerRegistry } from '../../src/work/pools/worker-registry.ts';
import { eventually } from '../support/eventually.ts';
import { askThrough } from '../support/kept-connection.ts';
import { readPdf } from '../support/pdf.ts';
import { openKafkaService, type TestService } from '../support/service.ts';

const SLOTS = 2;
/** It is under way for as long as the process is looked at, and over before the grace of a shutdown is. */
const LONG_MS = 10_000;
const LONG = { html: '<p>long</p>', options: { delayMs: LONG_MS } };

describe('A process that gets SIGTERM', () => {
  let service: TestService;
  let connection: Connection;
  let registry: WorkerRegistry;
  before(async () => {
    service = await openKafkaService({ PLATEN_WORKER_SLOTS: String(SLOTS) });
    connection = await connectDatabase(service.mongodbUri, pino({ level: 'silent' }));
    registry = new WorkerRegistry(connection, systemClock);
  });
  after(async () => {
    await connection?.close();
    await service?.stop();
  });

  it('as a worker is ready while it is full, then reports that it ends, finishes its jobs, and exits', async () => {
    const { client } = await service.newTenant('professional');
    const worker = service.roles.get('worker')!;
    const status = async (path: string) => (await fetch(`${worker.url}${path}`)).status;
    const said = async () => (await registry.list())[0];
    assert.deepEqual([(await said())?.pod, (await said())?.slots], ['worker', SLOTS]);
    const jobs = await Promise.all([client.submit(LONG), client.submit(LONG)]);
    await eventually('it is full', async () => (await said())?.busy === SLOTS);
    assert.equal((await said())?.state, 'claiming');
    assert.equal(await status('/readyz'), 200);

    worker.signal('SIGTERM');
    await eventually('it says that it ends', async () => (await said())?.state === 'ending');
    assert.deepEqual(await Promise.all(['/healthz', '/readyz', '/metrics'].map(status)), [200, 503, 200]);
    const late = await client.submit({ html: '<p>late</p>' });
    assert.equal(await worker.ended, 0);
    for (const job of jobs) assert.equal((await client.end(job)).status, 'completed');
    assert.deepEqual(await registry.list(), [], 'it is gone from the registry');

    await service.restart('worker');
    assert.equal((await client.end(late)).status, 'completed', 'what came too late is rendered by the next');
    const { attemptCount } = (await client.call('GET', `/v1/pdf/jobs/${jobs[0]}`)).json;
    assert.equal(attemptCount, 1);
  });

  it('as an API takes no more requests, and responds to waiting ones with their PDFs', async () => {
    const { client } = await service.newTenant('professional');
    const api = service.roles.get('api')!;
    const response = client.render({ html: '<p>waited for</p>', options: { delayMs: LONG_MS } });
    await eventually('it is being rendered', async () => (await registry.list())[0]?.busy === 1);
    api.signal('SIGTERM');
    await eventually('it takes no more', () =>
      fetch(`${api.url}/v1/pdf/jobs`).then(
        () => false,
        () => true,
      ),
    );
    const { status, bytes } = await response;
    assert.equal(status, 200);
    assert.match((await readPdf(bytes)).text, /waited for/);
    assert.equal(await api.ended, 0);
    await service.restart('api');
  });

  it('as an API fails no request over a kept connection, and marks the last response', async () => {
    const api = service.roles.get('api')!;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = () => askThrough(agent, `${api.url}/v1/pdf/jobs`);
    assert.equal((await ask()).headers.connection, 'keep-alive');
    api.signal('SIGTERM');
    for (;;) {
      const { statusCode, headers } = await ask();
      assert.equal(statusCode, 401, 'as ever without a key');
      if (headers.connection === 'close') break;
      await pause(20);
    }
    agent.destroy();
    assert.equal(await api.ended, 0);
    await service.restart('api');
  });
});
