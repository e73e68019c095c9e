import assert from 'node:assert/strict';
import { DEFAULT_PLANS } from '../../../src/tenants/plans/plan.ts';
import { loadOf } from '../../../src/work/jobs/account-loads.ts';
import { measureDemand } from '../../../src/work/jobs/demand.ts';
import type { LedgerRecord } from '../../../src/work/jobs/ledger/ledger-record.ts';

const ledger = (overrides: Partial<LedgerRecord> & Pick<LedgerRecord, '_id'>): LedgerRecord => ({
  revision: 1,
  inFlight: 0,
  waiting: 0,
  ...overrides,
});
const named = (name: string, concurrentRenders: number, poolRef?: string) => ({
  name,
  plan: { ...DEFAULT_PLANS.free, concurrentRenders, ...(poolRef && { poolRef }) },
});

describe('admissible demand', () => {
  const plans = new Map([
    ['one', named('free', 1)],
    ['two', named('business', 40)],
    ['three', named('acme', 8, 'gpu')],
  ]);

  const measured = (ledgers: readonly LedgerRecord[]) =>
    measureDemand(ledgers.map(loadOf), ({ accountId }) => plans.get(accountId));

  it('of a pool is the number of jobs in flight, plus those waiting jobs that plan slots are free for', () => {
    const { byPool } = measured([
      // A hundred of a free account are worth one slot.
      ledger({ _id: 'one', inFlight: 1, waiting: 100 }),
      ledger({ _id: 'two', inFlight: 4, waiting: 10 }),
      ledger({ _id: 'three', inFlight: 2, waiting: 50 }),
    ]);
    assert.deepEqual(Object.fromEntries(byPool), {
      default: { inFlight: 5, waiting: 110, demand: 15 },
      gpu: { inFlight: 2, waiting: 50, demand: 8 },
    });
  });

  it('counts what is in flight beyond a plan that has been made smaller', () => {
    const { byPlan } = measured([ledger({ _id: 'one', inFlight: 3, waiting: 5 })]);
    assert.deepEqual(byPlan.get('free'), { inFlight: 3, waiting: 5, demand: 3 });
  });

  it('does not shrink by a job that ends while it is being given its slot', () => {
    const { byPlan } = measured([ledger({ _id: 'two', inFlight: 3, waiting: -1 })]);
    assert.deepEqual(byPlan.get('business'), { inFlight: 3, waiting: 0, demand: 3 });
  });

  it('counts jobs at positions by class, and leaves out accounts that are gone', () => {
    const queues = {
      interactive: { head: 2, tail: 5 },
      'interactive-again': { tail: 1 },
      bulk: { head: 7, tail: 7 },
      'bulk-again': { head: 0, tail: 2 },
    };
    const { atPositions, byPool } = measured([
      ledger({ _id: 'two', queues }),
      ledger({ _id: 'gone', waiting: 9 }),
    ]);
    assert.deepEqual(atPositions, { interactive: 4, bulk: 2 });
    assert.equal(byPool.get('default')?.waiting, 0);
  });
});
