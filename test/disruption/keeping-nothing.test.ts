import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import mongoose, { type Connection } from 'mongoose';
import { chargedTo } from '../support/charged.ts';
import { eventually } from '../support/eventually.ts';
import { assertNothingHeld } from '../support/held.ts';
import { readPdf } from '../support/pdf.ts';
import { type PlansFile, writePlansFile } from '../support/plans-file.ts';
import { openKafkaService, SHORT_LEASE, type Tenant, type TestService } from '../support/service.ts';

const JOBS = 12;
const HOUR_MS = 3_600_000;
const PLAN = { retentionHours: 0, requestsPerMinute: 1_000_000, monthlyRenders: 1_000_000 };

describe('kill -9 under a plan that keeps nothing', () => {
  let service: TestService;
  let tenant: Tenant;
  let connection: Connection;
  let plans: PlansFile;
  before(async () => {
    plans = await writePlansFile({ professional: PLAN });
    service = await openKafkaService({ ...SHORT_LEASE, PLATEN_PLANS_FILE: plans.path });
    connection = await mongoose.createConnection(service.mongodbUri).asPromise();
    tenant = await service.newTenant('professional');
  });
  after(async () => {
    await connection?.close();
    await service?.stop();
    await plans?.remove();
  });

  /** A caller that asks again, with its key, until it has the PDF: of its request, or of its job where it is told to come back. */
  async function insist(text: string): Promise<string> {
    const body = { html: `<p>${text}</p>`, options: { delayMs: 250 } };
    const ask = async () => {
      const reply = await tenant.client.render(body, { 'idempotency-key': text });
      if (reply.status !== 202) return reply;
      const { jobId } = await tenant.client.end(reply.json.jobId);
      return await tenant.client.call('GET', `/v1/pdf/jobs/${jobId}/file`);
    };
    let last = '';
    for (let attempt = 0; attempt < 200; attempt += 1) {
      const reply = await ask().catch(() => undefined);
      if (reply?.status === 200) return (await readPdf(reply.bytes)).text.trim();
      last = `${reply?.status} ${JSON.stringify(reply?.json)}`;
      // The first request is under way still, or the process is away.
      assert.ok(reply === undefined || [409, 503].includes(reply.status), last);
      await sleep(250);
    }
    throw new Error(`${text} never came: ${last}`);
  }

  const charged = () => chargedTo(connection, tenant.accountId);
  const count = (collection: string) => connection.collection(collection).countDocuments();
  for (const [role, afterMs] of [
    ['worker', 700],
    ['api', 500],
  ] as const) {
    it(`gives every caller its PDF when it is the ${role}, and leaves nothing for longer than two hours`, async () => {
      const before = await charged();
      const texts = Array.from({ length: JOBS }, (_, i) => `${role} number ${i}`);
      const insisting = Promise.all(texts.map(insist));
      await sleep(afterMs);
      await service.roles.get(role)!.end('SIGKILL');
      await service.restart(role);
      assert.deepEqual(await insisting, texts);

      await assertNothingHeld(connection);
      assert.equal((await charged()) - before, JOBS, 'each is charged once');
      await eventually('no input is left', async () => (await count('job_inputs')) === 0);
      // Of a process that was killed between the response and the deletion.
      const left = await connection.collection('outputs.files').find().toArray();
      const expiries = left.map(({ _id }) => Number.parseInt(String(_id), 10) * HOUR_MS - Date.now());
      assert.ok(
        expiries.every((ms) => ms <= 2 * HOUR_MS),
        String(expiries),
      );
      console.log(`      ${left.length} of ${JOBS} PDFs are left to the sweep of their hour`);
    });
  }
});
