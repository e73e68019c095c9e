import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { readPdf } from '../support/pdf.ts';
import type { SmallDisk } from '../support/small-disk.ts';
import { SmallDiskService } from './support/small-disk-service.ts';

const MIB = 1024 * 1024;

describe('a standalone service whose disk is full', () => {
  let service: SmallDiskService;
  let disk: SmallDisk;
  let client: TestClient;

  before(async () => {
    service = await SmallDiskService.open(128 * MIB);
    ({ disk, client } = service);
  });
  after(() => service.close());
  const readiness = () => service.readiness();
  const statusOf = async (jobId: string) => (await client.call('GET', `/v1/pdf/jobs/${jobId}`)).json.status;
  const logged = (text: string) =>
    eventually(`logged: ${text}`, async () => (await service.logLines()).some(({ msg }) => msg === text));

  it('rejects new work before the disk is full, and finishes the accepted work', async () => {
    const jobs = await Promise.all(
      Array.from({ length: 4 }, (_, n) => client.submit({ html: `<p>${n}</p>`, options: { delayMs: 1500 } })),
    );
    disk.fill(20 * MIB);
    await eventually('not ready', async () => (await readiness())?.status === 503);
    assert.match((await readiness())!.json.problems.join(), /disk full: .*outputs has \d+ MiB free/);
    const refused = await client.render({ html: '<p>refused</p>' });
    assert.equal(refused.status, 503);
    assert.equal(refused.json.code, 'UNAVAILABLE');
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    for (const jobId of jobs) assert.equal((await client.end(jobId)).status, 'completed');
    disk.empty();
    await service.becomesReady();
    assert.equal((await client.render({ html: '<p>taken</p>' })).status, 200);
    await logged('new work is rejected for lack of storage; accepted work continues');
    await logged('new work is accepted again: there is storage');
  });

  it('without one free byte keeps what it has accepted, and goes on when there is room again', async () => {
    const jobs = await Promise.all(
      Array.from({ length: 4 }, (_, n) =>
        client.submit({ html: `<p>kept ${n}</p>`, options: { delayMs: 1500 } }),
      ),
    );
    disk.fill();
    // Longer than a lease, and than a retry.
    await sleep(8000);
    assert.match((await readiness())!.json.problems.join(), /disk full/);
    // More lines than the log's last page has room for.
    for (let i = 0; i < 40; i += 1) {
      assert.equal((await client.render({ html: '<p>refused</p>' })).status, 503);
    }
    for (const jobId of jobs) assert.notEqual(await statusOf(jobId), 'failed');
    assert.equal(service.process.exitCode, null);
    disk.empty();
    for (const [n, jobId] of jobs.entries()) {
      assert.equal((await client.end(jobId)).status, 'completed');
      const { bytes } = await client.call('GET', `/v1/pdf/jobs/${jobId}/file`);
      assert.match((await readPdf(bytes)).text, new RegExp(`kept ${n}`));
    }
    await service.becomesReady();
    assert.equal((await client.render({ html: '<p>taken</p>' })).status, 200);
    // The log was on the same disk.
    await logged('log lines were lost');
    const reported = (await service.logLines()).map(({ msg }) => msg);
    assert.ok(!reported.includes('attempt failed'), 'nobody paid with an attempt');
    service.process.kill('SIGTERM');
    assert.deepEqual(await once(service.process, 'exit'), [0, null]);
  });
});
