import assert from 'node:assert/strict';
import { PDFDocument } from '@cantoo/pdf-lib';
import mongoose, { type Connection } from 'mongoose';
import { killProcess } from '../../src/render/chromium/process/processes.ts';
import { eventually } from '../support/eventually.ts';
import { formOf } from '../support/form.ts';
import { assertNothingHeld } from '../support/held.ts';
import { readPdf } from '../support/pdf.ts';
import { descendants } from '../support/processes.ts';
import { openKafkaService, SHORT_LEASE, type Tenant, type TestService } from '../support/service.ts';

const JOBS = 20;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('kill -9 of a process while twenty jobs run loses none of them', () => {
  let service: TestService;
  let tenant: Tenant;
  let connection: Connection;
  before(async () => {
    service = await openKafkaService(SHORT_LEASE);
    connection = await mongoose.createConnection(service.mongodbUri).asPromise();
    tenant = await service.newTenant('professional');
  });
  after(async () => {
    await connection?.close();
    await service?.stop();
  });

  /** Twenty jobs that take a moment each, all accepted. */
  const submitAll = (name: string) =>
    Promise.all(
      Array.from({ length: JOBS }, (_, i) =>
        tenant.client.submit({ html: `<p>${name} number ${i}</p>`, options: { delayMs: 250 } }),
      ),
    );

  /** Every job ended once, visibly and correctly; nothing is left of the jobs. */
  const assertAllWhole = async (name: string, ids: readonly string[]) => {
    const records = await Promise.all(ids.map((id) => tenant.client.end(id, 90_000)));
    for (const [i, record] of records.entries()) {
      assert.equal(record.status, 'completed', JSON.stringify(record));
      const file = await tenant.client.call('GET', `/v1/pdf/jobs/${record.jobId}/file`);
      assert.equal(file.status, 200);
      assert.match((await readPdf(file.bytes)).text, new RegExp(`${name} number ${i}\\b`));
    }
    await assertNothingHeld(connection);
  };

  it('when it is the API, right after its 202', async () => {
    const ids = await submitAll('api');
    await service.roles.get('api')!.end('SIGKILL');
    await service.restart('api');
    await assertAllWhole('api', ids);
  });

  it('when it is the worker, in the middle of its renders, with its browsers', async () => {
    const ids = await submitAll('worker');
    await pause(600);
    const worker = service.roles.get('worker')!;
    assert.ok(descendants(worker.pid).length > 0, 'it has a browser');
    await worker.end('SIGKILL');
    await service.restart('worker');
    await assertAllWhole('worker', ids);
  });

  it('when it is the worker, in the middle of the conversion of PDFs that were sent', async () => {
    const parts = { options: JSON.stringify({ metadata: { title: 'Sent' } }), executionMode: 'async' };
    const ids = await Promise.all(
      Array.from({ length: 6 }, async (_, i) => {
        const { body, headers } = await formOf({ ...parts, file: await longPdf(`sent number ${i}`) });
        const { status, json } = await tenant.client.call('POST', '/v1/pdf/convert', body, headers);
        assert.equal(status, 202, JSON.stringify(json));
        return json.jobId as string;
      }),
    );
    const { client } = tenant;
    const running = async () => (await client.call('GET', '/v1/pdf/jobs?status=processing')).json.jobs.length;
    await eventually('some are being converted', async () => (await running()) > 0);
    await service.roles.get('worker')!.end('SIGKILL');
    await service.restart('worker');
    await assertAllWhole('sent', ids);
    const records = await Promise.all(ids.map((id) => client.end(id)));
    assert.ok(
      records.some(({ attemptCount }) => attemptCount > 1),
      'one was in the middle',
    );
  });

  it('when it is the dispatcher', async () => {
    const ids = await submitAll('dispatcher');
    await pause(300);
    await service.roles.get('dispatcher')!.end('SIGKILL');
    await pause(500);
    await service.restart('dispatcher');
    await assertAllWhole('dispatcher', ids);
  });

  it('when it is Chromium', async () => {
    const ids = await submitAll('chromium');
    await pause(600);
    const worker = service.roles.get('worker')!;
    const browser = descendants(worker.pid).find(({ command }) => /chrom/i.test(command));
    assert.ok(browser, 'it has a browser');
    killProcess(browser.pid);
    await assertAllWhole('chromium', ids);
  });
});

/** A PDF whose conversion takes a moment. */
async function longPdf(text: string): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  for (let page = 0; page < 800; page += 1) document.addPage().drawText(page === 0 ? text : 'more');
  return await document.save();
}
