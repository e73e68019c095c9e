import assert from 'node:assert/strict';
import { pendingAdmission } from '../../../src/infra/overload/pending-admission.ts';
import { EXPANDER_MS, expand } from '../../../src/work/batches/expansion.ts';
import { type Domain, openDomain } from '../../support/domain.ts';
import { startMongo } from '../../support/mongo.ts';
import { recordQueries } from '../../support/query-shapes.ts';
import { batchOf, callerWith } from './support.ts';

const ITEMS = 4;

describe('The lists of batches that are due', () => {
  let domain: Domain;

  before(async () => {
    const { uri } = await startMongo();
    const monitored = `${uri}${uri.includes('?') ? '&' : '?'}monitorCommands=true`;
    domain = await openDomain({ uri: monitored, plan: { concurrentRenders: 2 } });
  });
  after(() => domain.close());

  const admit = () =>
    domain.batches.admission.admit(callerWith(domain.plan), batchOf(ITEMS), pendingAdmission());
  const deps = () => ({ ...domain, batches: domain.batches.store });

  it('spare sweeps the records of batches that need no reconciling', async () => {
    for (let i = 0; i < 3; i += 1) await expand(deps(), await admit());
    domain.clock.pass(EXPANDER_MS);
    assert.equal(await domain.batches.reconciler.sweep(), 0);
    const sent = recordQueries(domain.connection);
    assert.equal(await domain.batches.reconciler.sweep(), 0);
    const asked = [...sent.values()].map(({ collection }) => collection);
    assert.deepEqual(asked, ['batch_reconciliations']);
  });

  it('have a batch reconciled again for as long as it expands, and one that is cancelled at once', async () => {
    const batch = await admit();
    domain.clock.pass(EXPANDER_MS - 5000);
    assert.equal(await domain.batches.reconciler.sweep(), 0, 'its expander has been heard of lately');
    domain.clock.pass(5000);
    assert.equal(await domain.batches.reconciler.sweep(), 1);
    assert.equal((await domain.batches.store.find(batch._id))?.phase, 'open');
    domain.clock.pass(EXPANDER_MS);
    assert.equal(await domain.batches.reconciler.sweep(), 0);
    // By a process that dies before it has begun to cancel the items.
    assert.ok(await domain.batches.store.cancel(batch._id));
    assert.equal(await domain.batches.reconciler.sweep(), 1);
    await domain.flush();
    assert.equal((await domain.batches.store.find(batch._id))?.phase, 'cancelled');
  });
});
