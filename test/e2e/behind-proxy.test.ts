import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Receiver } from '../integration/callbacks/support.ts';
import { CERTIFICATE } from '../integration/egress/support/certificate.ts';
import { Origin } from '../integration/egress/support/origin.ts';
import { Upstream } from '../integration/egress/support/upstream.ts';
import { eventually } from '../support/eventually.ts';
import { openStandaloneService, type TestService } from '../support/service.ts';

describe('a service behind a proxy of its operator', () => {
  let service: TestService;
  let upstream: Upstream;
  let origin: Origin;
  let receiver: Receiver;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-behind-proxy-'));
    const authority = join(folder, 'ca.pem');
    await writeFile(authority, CERTIFICATE);
    origin = await Origin.start('127.9.9.1', (_request, response) => {
      response.setHeader('content-type', 'text/html').end('<title>t</title><p>printed through a proxy');
    });
    receiver = await Receiver.start();
    upstream = await Upstream.start('user:pass', { 'only-there.test': '127.9.9.1' });
    service = await openStandaloneService({
      NODE_EXTRA_CA_CERTS: authority,
      HTTPS_PROXY: `http://user:pass@127.0.0.1:${upstream.port}`,
      NO_PROXY: '127.0.0.0/24',
      PLATEN_PROXY_LOOKUP: 'proxy',
    });
  });
  after(async () => {
    await service?.stop();
    await Promise.all([upstream.close(), origin.close(), receiver.close()]);
    await rm(folder, { recursive: true, force: true });
  });

  it('prints pages and sends callbacks through it, by names that only the proxy knows', async () => {
    const { client } = await service.newTenant('professional');
    const page = `only-there.test:${origin.port}`;
    const webhookUrl = receiver.url();
    const jobId = await client.submit({ url: `http://${page}/`, webhookUrl });
    const job = await client.end(jobId);
    assert.equal(job.status, 'completed', JSON.stringify(job));
    assert.equal(origin.requests.at(-1)?.headers.host, page);
    await eventually('the callback is there', () => receiver.received.length > 0);
    assert.deepEqual(new Set(upstream.asked), new Set([page, new URL(webhookUrl).host]));
  });

  it('tells no caller what the proxy is called', async () => {
    const { client } = await service.newTenant('professional');
    const ended = await client.renderToEnd({
      url: 'http://unknown-to-it.test/',
      options: { timeoutMs: 10_000 },
    });
    assert.notEqual(ended.status, 200);
    const text = Buffer.from(ended.bytes).toString();
    assert.doesNotMatch(text, new RegExp(`127\\.0\\.0\\.1|${upstream.port}|proxy`, 'i'));
  });
});
