import assert from 'node:assert/strict';
import mongoose, { type Connection } from 'mongoose';
import type { Job } from '../../src/work/jobs/job.ts';
import { eventually } from '../support/eventually.ts';
import { mentions } from '../support/mentions.ts';
import { openKafkaService, type Tenant, type TestService } from '../support/service.ts';

const MARK = 'of-the-one-to-be-deleted';
/** So many that the dispatcher is killed before it is through. */
const JOBS = 20_000;
/** Before each kill so many of them have been deleted at least. */
const DELETED_BEFORE = [1, 5000, 12_000];

describe('kill -9 of the dispatcher that deletes an account', () => {
  let service: TestService;
  let connection: Connection;

  before(async () => {
    service = await openKafkaService({ PLATEN_SWEEP_MS: '300' });
    connection = await mongoose.createConnection(service.mongodbUri).asPromise();
  });
  after(async () => {
    await connection?.close();
    await service?.stop();
  });

  const history = () => connection.collection<Job>('job_history');

  async function useAll(tenant: Tenant): Promise<void> {
    const { client } = tenant;
    const html = `<p>${MARK}</p>`;
    const { templateId } = await service.saveTemplate(tenant, html);
    await client.end(await client.submit({ html, options: { report: true } }));
    await client.end(await client.submit({ templateId, data: {} }));
    const items = ['a', 'b', 'c'].map((id) => ({ id, html }));
    const { json } = await client.call('POST', '/v1/pdf/batch', { items });
    await eventually('the batch has ended', async () => {
      return (await client.call('GET', `/v1/pdf/batch/${json.jobId}`)).json.finishedAt != null;
    });
  }

  it('leaves nothing of the account, and all of another', async () => {
    const other = await service.newTenant('professional');
    const tenant = await service.newTenant('professional');
    for (const one of [other, tenant]) await useAll(one);
    const { accountId } = tenant;
    const [job] = await history().find({ accountId, state: 'completed' }).limit(1).toArray();
    for (let from = 0; from < JOBS; from += 1000) {
      const copies = Array.from({ length: 1000 }, (_, i) => ({ ...job!, _id: `${job!._id}-${from + i}` }));
      await history().insertMany(copies);
    }
    const others = await history().countDocuments({ accountId: other.accountId });

    // As the administration does.
    const { accounts, deletions } = service.tenants;
    await deletions.note(accountId, { actor: 'operator', operator: 'anna' });
    await accounts.markDeleting(accountId, 'anna');
    await deletions.hasten(accountId);
    for (const deleted of DELETED_BEFORE) {
      await eventually(`${deleted} are deleted`, async () => {
        return (await history().countDocuments({ accountId })) <= JOBS - deleted;
      });
      await service.roles.get('dispatcher')!.end('SIGKILL');
      assert.ok((await history().countDocuments({ accountId })) > 0, 'it was killed in the middle');
      const refused = await tenant.client.render({ html: 'x' });
      assert.deepEqual([refused.status, refused.json.code], [403, 'ACCOUNT_SUSPENDED']);
      await service.restart('dispatcher');
    }
    await eventually('the account is gone', async () => {
      return (
        (await connection.collection<{ _id: string }>('accounts').countDocuments({ _id: accountId })) === 0
      );
    });
    await eventually('nothing of it is left', async () => {
      const left = await mentions(connection, [accountId, job!._id]);
      assert.equal(left.audit_log, 1);
      return Object.keys(left).length === 1;
    });
    assert.equal(await history().countDocuments({ accountId: other.accountId }), others);
    await other.client.end(await other.client.submit({ html: '<p>goes on</p>' }));
  });
});
