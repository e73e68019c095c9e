import assert from 'node:assert/strict';
import { systemTimers } from '../../src/infra/async/timers.ts';
import { quotaPeriod } from '../../src/tenants/plans/quota-period.ts';
import { BlockLedger } from '../../src/work/jobs/blocks/block-ledger.ts';
import { QuotaExtension } from '../../src/work/jobs/blocks/quota-extension.ts';
import { openLedgers } from '../../src/work/jobs/ledger/ledger-record.ts';
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
    await first.blockLedger.set('a', {
      enabled: true,
      units: UNITS,
      priceCents: PRICE,
      capCents: 100 * PRICE,
      cycle: '1',
    });
    const processes = [first, second].map(
      ({ connection, clock }) =>
        new QuotaExtension(new BlockLedger(openLedgers(connection), clock), clock, LONG_MS),
    );
    const asked = Array.from({ length: REQUESTS }, (_, i) =>
      processes[i % 2]!.more('a', quota, 1, systemTimers.nowMs()),
    );
    const blockBalance = new Set<string>();
    let responded = false;
    const all = Promise.all(asked).finally(() => {
      responded = true;
    });
    while (!responded) {
      for (const { overage } of await second.blockLedger.beingBought()) {
        const { blockId } = overage!.purchase!;
        blockBalance.add(blockId);
        const until = second.clock.now().getTime() + LONG_MS;
        // Two dispatchers grant the block concurrently.
        await Promise.all(
          [first, second].map(({ blockLedger }) =>
            blockLedger.grant('a', blockId, UNITS, until, { period, quota: 1 }),
          ),
        );
      }
    }
    const limits = await all;
    assert.deepEqual([...new Set(limits.map((limit) => limit?.limit))], [1 + UNITS]);
    assert.equal(blockBalance.size, 1);
    const record = await first.blockLedger.find('a');
    assert.deepEqual([record?.overage?.spentCents, record?.overage?.purchase], [PRICE, undefined]);
    assert.deepEqual(Object.keys(record?.blockBalance?.blocks ?? {}), [...blockBalance]);
    assert.equal(await second.blockLedger.left('a', period, 1), UNITS);
  });
});
