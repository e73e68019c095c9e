import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mongoose from 'mongoose';
import { Receiver } from '../integration/callbacks/support.ts';
import { CERTIFICATE } from '../integration/egress/support/certificate.ts';
import { eventually } from '../support/eventually.ts';
import {
  openKafkaService,
  openStandaloneService,
  type Tenant,
  type TestService,
} from '../support/service.ts';

const HTML = { html: '<p>x</p>' };

describe('callbacks of a running service', () => {
  let service: TestService;
  let tenant: Tenant;
  let receiver: Receiver;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-callbacks-'));
    const authority = join(folder, 'ca.pem');
    await writeFile(authority, CERTIFICATE);
    receiver = await Receiver.start();
    service = await openStandaloneService({ NODE_EXTRA_CA_CERTS: authority });
    tenant = await service.newTenant('professional');
  });
  after(async () => {
    await service?.stop();
    await receiver.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('come for a batch and for a render, each once, with addresses that lead there', async () => {
    const webhookUrl = receiver.url();
    const items = ['a', 'b'].map((id) => ({ id, ...HTML }));
    const batch = await tenant.client.call('POST', '/v1/pdf/batch', { items, webhookUrl });
    assert.equal(batch.status, 202);
    const jobId = await tenant.client.submit({ ...HTML, webhookUrl });
    await eventually('both are there', () => receiver.received.length >= 2);
    const bodies = receiver.received.map(({ body }) => JSON.parse(body));
    const events = Object.fromEntries(bodies.map(({ event, jobId: of }) => [event, of]));
    assert.deepEqual(events, { 'batch.completed': batch.json.jobId, 'render.completed': jobId });
    for (const { statusUrl, zipUrl, fileUrl } of bodies) {
      for (const url of [statusUrl, zipUrl ?? fileUrl]) {
        const reply = await fetch(url, { headers: { 'x-api-key': tenant.client.key } });
        assert.equal(reply.status, 200, url);
        await reply.arrayBuffer();
      }
    }
    // What became of an attempt is counted a moment after the receiver has had it.
    await eventually('both are counted, and none is due', async () => {
      const metrics = await service.metrics();
      return (
        /platen_callback_attempts_total\{outcome="delivered",role="standalone"\} 2/.test(metrics) &&
        /platen_callback_oldest_due_seconds\{role="standalone"\} 0/.test(metrics)
      );
    });
    assert.equal(receiver.received.length, 2);
  });

  it('carry no trace, and the metrics name none, where no collector is named', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const before = receiver.received.length;
    const body = { ...HTML, executionMode: 'async', webhookUrl: receiver.url() };
    const { status } = await tenant.client.render(body, { traceparent, tracestate: 'congo=t61' });
    assert.equal(status, 202);
    await eventually('it is there', () => receiver.received.length > before);
    for (const name of ['traceparent', 'tracestate'])
      assert.equal(receiver.received.at(-1)!.headers[name], undefined);
    const accept = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
    const metrics = await fetch(`${service.url}/metrics`, { headers: { accept } });
    assert.match(metrics.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    assert.doesNotMatch(await metrics.text(), /trace_id|# EOF/);
  });
});

describe('callbacks over Kafka, when the dispatcher is killed while they are due', () => {
  let service: TestService;
  let tenant: Tenant;
  let receiver: Receiver;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-callbacks-'));
    const authority = join(folder, 'ca.pem');
    await writeFile(authority, CERTIFICATE);
    receiver = await Receiver.start();
    service = await openKafkaService({
      NODE_EXTRA_CA_CERTS: authority,
      PLATEN_PUBLIC_URL: 'https://platen.test',
    });
    tenant = await service.newTenant('professional');
  });
  after(async () => {
    await service?.stop();
    await receiver.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** What the owner is told of all callbacks: how each stands, and how often it was tried. */
  async function reported(): Promise<string[]> {
    const connection = await mongoose.createConnection(service.mongodbUri).asPromise();
    try {
      const found = await connection.collection('callback_deliveries').find().toArray();
      return found.map(({ state, attempts }) => `${state} ${attempts}`);
    } finally {
      await connection.close();
    }
  }

  it('come once it is back: those that were never tried, and those that were to be tried again', async () => {
    const webhookUrl = receiver.url();
    const accept = receiver.respond;
    receiver.respond = (_request, response) => response.writeHead(503).end();
    const refused = [
      await tenant.client.submit({ ...HTML, webhookUrl }),
      await tenant.client.submit({ ...HTML, webhookUrl }),
    ];
    await eventually('both are to be tried again', async () => {
      const pending = (await reported()).filter((one) => one.startsWith('pending') && one !== 'pending 0');
      return pending.length === refused.length;
    });
    await service.roles.get('dispatcher')!.end('SIGKILL');
    receiver.respond = accept;
    const before = receiver.received.length;
    // Nobody but the worker follows up these ends.
    const items = ['a', 'b'].map((id) => ({ id, ...HTML }));
    const batch = await tenant.client.call('POST', '/v1/pdf/batch', { items, webhookUrl });
    assert.equal(batch.status, 202);
    const late = await tenant.client.submit({ ...HTML, webhookUrl });
    await eventually(
      'theirs are due',
      async () => (await reported()).filter((one) => one === 'pending 0').length === 2,
    );
    assert.equal(receiver.received.length, before, 'nobody sends them');
    await service.restart('dispatcher');
    const all = [...refused, batch.json.jobId, late];
    await eventually('all have come', async () =>
      (await reported()).every((one) => one.startsWith('delivered')),
    );
    const came = receiver.received.slice(before).map(({ body, headers }) => ({
      of: JSON.parse(body).jobId as string,
      id: String(headers['x-service-delivery-id']),
    }));
    assert.deepEqual([...new Set(came.map(({ of }) => of))].sort(), [...all].sort());
    assert.equal(new Set(came.map(({ id }) => id)).size, all.length);
    const ids = receiver.received.map(({ headers }) => headers['x-service-delivery-id']);
    assert.equal(new Set(ids).size, all.length, 'under one id, whichever attempt it is');
  });
});
