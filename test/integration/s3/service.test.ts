import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keysAfter } from '../../../src/infra/outputs/s3/listed-objects.ts';
import { TestClient } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { exampleInvoice, exampleXml } from '../../support/invoice.ts';
import { readPdf } from '../../support/pdf.ts';
import { type RoleProcess, startRole } from '../../support/processes.ts';
import { bucketClient, type S3Server, s3Config, startS3 } from '../../support/s3-server.ts';

const KEY = `sk_live_${'given-by-the-operator-0123456789'.padEnd(40, 'x')}`;

describe('A service with its outputs in S3', () => {
  let server: S3Server;
  let folder: string;
  let environment: Record<string, string>;
  let service: RoleProcess;
  let client: TestClient;

  const start = async (more: Record<string, string> = {}) => {
    const role = await startRole('standalone', { ...environment, ...more });
    return role;
  };
  before(async () => {
    server = await startS3();
    folder = await mkdtemp(join(tmpdir(), 'platen-s3-service-'));
    environment = {
      ...(await server.newBucket({ PLATEN_S3_PREFIX: 'platen/' })),
      PLATEN_DATA_DIR: folder,
      PLATEN_EMBEDDED: 'mongo-java-server',
      PLATEN_BOOTSTRAP_EMAIL: 'first@example.com',
      PLATEN_BOOTSTRAP_API_KEY: KEY,
      PLATEN_WORKER_SLOTS: '2',
      PLATEN_LEASE_MS: '3000',
      PLATEN_SHUTDOWN_GRACE_MS: '1000',
      PLATEN_SYNC_WAIT_MS: '60000',
    };
    service = await start();
    await service.ready();
    client = new TestClient(service.url, KEY);
  });
  after(async () => {
    await service.end();
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });
  const objects = async () => {
    const bucket = bucketClient(s3Config(environment));
    const keys = await keysAfter(bucket, 'platen/', '');
    await bucket.close();
    return keys.filter((key) => !key.includes('/probe-'));
  };
  const readiness = async () => await fetch(`${service.url}/readyz`);

  it('keeps PDFs there', async () => {
    const { status, bytes } = await client.render({ html: '<p>kept in a bucket</p>' });
    assert.equal(status, 200);
    assert.match((await readPdf(bytes)).text, /kept in a bucket/);
    assert.equal((await objects()).length, 1);
  });

  it('keeps e-invoices there beside their PDFs, and the XML can be had by itself', async () => {
    const before = await objects();
    const options = { einvoice: { profile: 'en16931', data: exampleInvoice() } };
    const jobId = await client.submit({ html: '<title>An invoice</title><p>of a bucket</p>', options });
    assert.equal((await client.end(jobId)).status, 'completed');
    const file = await client.call('GET', `/v1/pdf/jobs/${jobId}/einvoice`);
    assert.deepEqual([file.status, file.headers.get('content-type')], [200, 'application/xml']);
    assert.equal(Buffer.from(file.bytes).toString(), exampleXml('en16931'));
    const added = (await objects()).filter((key) => !before.includes(key));
    assert.deepEqual(added.map((key) => key.replace(/^.*\./, '')).toSorted(), ['pdf', 'xml']);
    const pdf = await client.call('GET', `/v1/pdf/jobs/${jobId}/file`);
    const [attached] = (await readPdf(pdf.bytes)).attachments;
    assert.deepEqual(
      [attached?.name, Buffer.from(attached!.content).toString()],
      ['factur-x.xml', exampleXml('en16931')],
    );
  });

  it('loses nothing that it has accepted while the store is away, and accepts nothing more after a while', async () => {
    const before = (await objects()).length;
    await server.stop();
    const jobs = await Promise.all(
      Array.from({ length: 6 }, (_, n) => client.submit({ html: `<p>while away ${n}</p>` })),
    );
    await eventually('not ready', async () => (await readiness()).status === 503);
    assert.match(await (await readiness()).text(), /output store: /);
    const refused = await client.render({ html: '<p>refused</p>' });
    assert.deepEqual([refused.status, refused.json.code], [503, 'UNAVAILABLE']);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    for (const jobId of jobs) {
      const { json } = await client.call('GET', `/v1/pdf/jobs/${jobId}`);
      assert.ok(['queued', 'processing'].includes(json.status), json.status);
    }
    await server.start();
    for (const [n, jobId] of jobs.entries()) {
      const job = await client.end(jobId);
      assert.deepEqual([job.status, job.attemptCount], ['completed', 1], 'nobody paid with an attempt');
      const { bytes } = await client.call('GET', `/v1/pdf/jobs/${jobId}/file`);
      assert.match((await readPdf(bytes)).text, new RegExp(`while away ${n}`));
    }
    await eventually('ready', async () => (await readiness()).status === 200);
    assert.equal((await client.render({ html: '<p>taken</p>' })).status, 200);
    assert.equal((await objects()).length, before + 7);
  });

  it('ends while the store is away, and renders what it had accepted when both are back', async () => {
    await server.stop();
    const jobId = await client.submit({ html: '<p>over two lives</p>' });
    await eventually('it is rendered', async () => {
      return (await client.call('GET', `/v1/pdf/jobs/${jobId}`)).json.status === 'processing';
    });
    assert.equal(await service.end(), 0);
    const refused = await start();
    assert.notEqual(await refused.ended, 0);
    assert.match(
      refused.output.join('\n') + JSON.stringify(refused.logs),
      /PLATEN_S3_ENDPOINT: no store answers at /,
    );
    await server.start();
    service = await start();
    await service.ready();
    client = new TestClient(service.url, KEY);
    assert.equal((await client.end(jobId)).status, 'completed');
  });
});
