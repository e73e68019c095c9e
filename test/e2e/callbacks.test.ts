import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Receiver } from '../integration/callbacks/support.ts';
import { CERTIFICATE } from '../integration/egress/support/certificate.ts';
import { eventually } from '../support/eventually.ts';
import { openStandaloneService, type Tenant, type TestService } from '../support/service.ts';

const HTML = { html: '<p>x</p>' };

describe('callbacks of a running service', function () {
  this.timeout(120_000);
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
    const jobId = await tenant.client.order({ ...HTML, webhookUrl });
    await eventually('both are there', () => receiver.received.length >= 2, 60_000);
    const bodies = receiver.received.map(({ body }) => JSON.parse(body));
    const events = Object.fromEntries(bodies.map(({ event, jobId: of }) => [event, of]));
    assert.deepEqual(events, { 'batch.completed': batch.json.jobId, 'render.completed': jobId });
    for (const { statusUrl, zipUrl, fileUrl } of bodies) {
      for (const url of [statusUrl, zipUrl ?? fileUrl]) {
        const answer = await fetch(url, { headers: { 'x-api-key': tenant.client.key } });
        assert.equal(answer.status, 200, url);
        await answer.arrayBuffer();
      }
    }
    const metrics = await service.metrics();
    assert.match(metrics, /platen_callback_attempts_total\{outcome="delivered",role="standalone"\} 2/);
    assert.match(metrics, /platen_callback_oldest_due_seconds\{role="standalone"\} 0/);
    assert.equal(receiver.received.length, 2);
  });
});
