import assert from 'node:assert/strict';
import { systemTimers } from '../../src/infra/async/timers.ts';
import { quotaPeriod } from '../../src/tenants/plans/quota-period.ts';
import { openLedgers } from '../../src/work/jobs/ledger/ledger-record.ts';
import { BeyondQuota } from '../../src/work/jobs/purchases/beyond-quota.ts';
import { Purchases } from '../../src/work/jobs/purchases/purchases.ts';
import { type Domain, openDomain } from '../support/domain.ts';
import { startMongo } from '../support/mongo.ts';

const REQUESTS = 200;
const UNITS = 1000;
const PRICE = 1000;
const LONG_MS = 60_000;

describe('The gate for buying beyond the quota, with two concurrent processes,', () => {
  let first: Domain;
  let second: Domain;

  before(async () => {
    const { uri } = await startMongo();
    first = await openDomain({ uri });
    second = await openDomain({ uri });
  });
  after(async () => {
    await first.close();
    await second.close();
  });

  it('is passed once, and every request gets what was bought', async () => {
    const period = quotaPeriod(first.clock.now());
    const quota = { period, limit: 1 };
    assert.equal(await first.ledger.takeSlot('a', 'job', 10, quota), true);
    await first.purchases.set('a', {
      enabled: true,
      units: UNITS,
      priceCents: PRICE,
      capCents: 100 * PRICE,
      cycle: '1',
    });
    const processes = [first, second].map(
      ({ connection, clock }) =>
        new BeyondQuota(new Purchases(openLedgers(connection), clock), clock, LONG_MS),
    );
    const asked = Array.from({ length: REQUESTS }, (_, i) =>
      processes[i % 2]!.more('a', quota, 1, systemTimers.nowMs()),
    );
    const bought = new Set<string>();
    let responded = false;
    const all = Promise.all(asked).finally(() => {
      responded = true;
    });
    while (!responded) {
      for (const { overage } of await second.purchases.gated()) {
        const { blockId } = overage!.gate!;
        bought.add(blockId);
        const until = second.clock.now().getTime() + LONG_MS;
        // Two dispatchers grant the block concurrently.
        await Promise.all(
          [first, second].map(({ purchases }) =>
            purchases.grant('a', blockId, UNITS, until, { period, quota: 1 }),
          ),
        );
      }
    }
    const limits = await all;
    assert.deepEqual([...new Set(limits.map((limit) => limit?.limit))], [1 + UNITS]);
    assert.equal(bought.size, 1);
    const record = await first.purchases.find('a');
    assert.deepEqual([record?.overage?.spentCents, record?.overage?.gate], [PRICE, undefined]);
    assert.deepEqual(Object.keys(record?.bought?.blocks ?? {}), [...bought]);
    assert.equal(await second.purchases.left('a', period, 1), UNITS);
  });
});
