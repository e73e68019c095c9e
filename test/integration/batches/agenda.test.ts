import assert from 'node:assert/strict';
import { BatchStore } from '../../../src/batches/batch-store.ts';
import { EXPANDER_MS, expand } from '../../../src/batches/expansion.ts';
import { AdmissionTimer } from '../../../src/limits/admission-timer.ts';
import { type Domain, openDomain } from '../../support/domain.ts';
import { startMongo } from '../../support/mongo.ts';
import { recordQueries } from '../../support/query-shapes.ts';
import { batchOf, callerWith } from './support.ts';

const ITEMS = 4;

describe('the agenda of batches', () => {
  let domain: Domain;
  let uri: string;

  before(async () => {
    ({ uri } = await startMongo());
    const monitored = `${uri}${uri.includes('?') ? '&' : '?'}monitorCommands=true`;
    domain = await openDomain({ uri: monitored, plan: { concurrentRenders: 2 } });
  });
  after(() => domain.close());

  const admit = () =>
    domain.batches.admission.admit(callerWith(domain.plan), batchOf(ITEMS), new AdmissionTimer());
  const parts = () => ({ ...domain, batches: domain.batches.store });

  it('spares sweeps the records of batches that nobody has to look after', async () => {
    for (let i = 0; i < 3; i += 1) await expand(parts(), await admit());
    domain.clock.pass(EXPANDER_MS);
    assert.equal(await domain.batches.care.sweep(), 0);
    const sent = recordQueries(domain.connection);
    assert.equal(await domain.batches.care.sweep(), 0);
    const asked = [...sent.values()].map(({ collection }) => collection);
    assert.deepEqual(asked, ['batch_care']);
  });

  it('has a batch looked at again for as long as it expands, and one that is cancelled at once', async () => {
    const batch = await admit();
    domain.clock.pass(EXPANDER_MS - 5000);
    assert.equal(await domain.batches.care.sweep(), 0, 'its expander has been heard of lately');
    domain.clock.pass(5000);
    assert.equal(await domain.batches.care.sweep(), 1);
    assert.equal((await domain.batches.store.find(batch._id))?.phase, 'open');
    domain.clock.pass(EXPANDER_MS);
    assert.equal(await domain.batches.care.sweep(), 0);
    // By a process that dies before it has begun to cancel the items.
    assert.ok(await domain.batches.store.cancel(batch._id));
    assert.equal(await domain.batches.care.sweep(), 1);
    await domain.flush();
    assert.equal((await domain.batches.store.find(batch._id))?.phase, 'cancelled');
  });

  it('is made good by the next process for batches that are not on it, as an older version leaves them', async () => {
    const batch = await admit();
    const ending = await admit();
    await expand(parts(), ending);
    await domain.batches.store.cancel(ending._id);
    await domain.batches.care.sweep();
    await domain.flush();
    for (const name of ['batch_care', 'batch_endings']) {
      await domain.connection.collection<{ _id: string }>(name).deleteMany({});
    }
    domain.clock.pass(EXPANDER_MS);
    assert.equal(await domain.batches.care.sweep(), 0);
    const { expiresAt } = (await domain.batches.store.find(ending._id))!;
    domain.clock.pass(expiresAt.getTime() - domain.clock.now().getTime());
    const next = await openDomain({ uri });
    try {
      const store = new BatchStore(next.connection, domain.clock);
      const neglected = await store.neglected(domain.clock.now());
      assert.deepEqual(
        neglected.map(({ _id }) => _id),
        [batch._id],
      );
      const due = await store.due(domain.clock.now());
      assert.ok(due?.toPurge.some(({ _id }) => _id === ending._id));
    } finally {
      await next.close();
    }
  });
});
