import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { repairInterruptedJobs } from '../../../src/work/jobs/sweeps/interrupted-jobs.ts';
import { useDomain } from '../../support/domain.ts';
import { csvOf, Sourced } from './sourced.ts';
import { dieAt } from './support.ts';

const ROWS = 130;
/** Longer than anybody between two steps takes. */
const LONG_MS = 20_000;

describe('Reading the rows of a file, with a death at any step', () => {
  const domain = useDomain({ plan: { concurrentRenders: 5, maxBatchItems: 1000, monthlyRenders: 100_000 } });
  let sourced: Sourced;
  beforeEach(() => {
    sourced = new Sourced(domain);
  });
  afterEach(() => sourced.close());

  /** What the dispatcher does again and again. */
  async function repair(): Promise<void> {
    await repairInterruptedJobs(
      {
        ...domain,
        ...{ redeliveryMs: 1000, retryBaseMs: 1000, random: Math.random, onRetried: () => {} },
        keepsArrivalOf: (batchId, items) => domain.batches.admission.forgetUnless(batchId, items),
      },
      await domain.ledger.active(),
    );
  }

  const steps = () => ({
    'ledger.takePositions': dieAt(domain.ledger, 'takePositions'),
    'inputs.save': dieAt(domain.store.inputs, 'save'),
    'sourced.addItems': dieAt(domain.batches.sourced, 'addItems'),
    'transitions.accept': dieAt(domain.store.transitions, 'accept'),
    'ledger.confirmPositions': dieAt(domain.ledger, 'confirmPositions'),
    'dispatch.serve': dieAt(domain.dispatch, 'serve'),
    'batches.count': dieAt(domain.batches.store, 'count'),
    'sourced.progressed': dieAt(domain.batches.sourced, 'progressed'),
    'readings.renew': dieAt(domain.batches.store.readings, 'renew'),
    'sourced.readWhole': dieAt(domain.batches.sourced, 'readWhole'),
    'files.delete': dieAt(domain.batches.files, 'delete'),
  });
  const NAMES = [
    'ledger.takePositions',
    'inputs.save',
    'sourced.addItems',
    'transitions.accept',
    'ledger.confirmPositions',
    'dispatch.serve',
    'batches.count',
    'sourced.progressed',
    'readings.renew',
    'sourced.readWhole',
    'files.delete',
  ] as const;

  /** The batch has a row without a job in each of its steps, so that those are counted as well. */
  const file = csvOf(ROWS)
    .replace(/^inv-7,.*$/m, 'inv-7')
    .replace(/^inv-77,.*$/m, 'inv-77')
    .replace(/^inv-110,.*$/m, 'inv-110');
  const GOOD = ROWS - 3;

  for (const name of NAMES)
    for (const when of ['before', 'after'] as const)
      it(`renders and charges each row once when the reader dies ${when} ${name}`, async () => {
        const { _id } = await sourced.upload(file);
        const undo = steps()[name](name === 'readings.renew' ? 3 : 1, when);
        let died = false;
        try {
          for (let looks = 0; looks < 40 && !died; looks += 1) {
            await sourced.reader.sweep();
            await sourced.render().catch(() => undefined);
            await sleep(20);
            died = ((await domain.batches.store.readings.find(_id))?.failures ?? 0) > 0;
          }
        } finally {
          undo();
        }
        for (let round = 0; round < 3; round += 1) {
          domain.clock.pass(LONG_MS);
          await repair();
        }
        const batch = await sourced.finish(_id);
        assert.deepEqual([batch.phase, batch.total], ['completed', ROWS]);
        assert.equal(new Set(sourced.rendered).size, GOOD);
        assert.equal(sourced.rendered.length, GOOD, 'no row is rendered twice');
        await domain.flush();
        assert.equal(await sourced.charged(), GOOD);
        const record = (await domain.ledger.find(sourced.caller.accountId))!;
        assert.deepEqual([record.waiting, record.inFlight, record.pending ?? {}], [0, 0, {}]);
        const items = await sourced.items(batch);
        assert.deepEqual(
          items.map(({ status }) => status).filter((status) => status !== 'completed').length,
          3,
        );
        await sourced.assertNothingKept();
      });

  it('that is cancelled in the step in which it died has every row that has a job, and no other', async () => {
    const { _id } = await sourced.upload(file);
    const undo = dieAt(domain.ledger, 'confirmPositions')(1, 'before');
    await sourced.reader.sweep();
    await sleep(300);
    undo();
    await domain.batches.service.cancel(sourced.caller, _id);
    domain.clock.pass(LONG_MS);
    await repair();
    const batch = await sourced.finish(_id);
    assert.deepEqual([batch.phase, batch.total], ['cancelled', 50]);
    assert.equal(await sourced.charged(), sourced.rendered.length);
    const items = await sourced.items(batch);
    assert.equal(items.filter(({ job }) => job !== undefined).length, 49);
  });
});
