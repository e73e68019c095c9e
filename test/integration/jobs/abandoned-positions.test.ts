import assert from 'node:assert/strict';
import { endEarly } from '../../../src/work/jobs/end-early.ts';
import { SweptDomain } from '../../support/swept-domain.ts';

describe('sweeps of positions that a kill has left', () => {
  let swept: SweptDomain;
  beforeEach(async () => {
    swept = await SweptDomain.open();
  });
  afterEach(() => swept.close());

  it('pass over all positions of a batch that was never written at once, up to the job that waits behind them', async () => {
    await swept.claim(await swept.submit(), 'w', 1e9);
    const items = 250;
    const dead = {
      id: 'dead',
      jobs: Array.from({ length: items }, (_, i) => `item-${i}`),
      queue: 'bulk' as const,
    };
    const limits = { maxWaiting: 1000, quota: undefined };
    assert.equal(await swept.domain.ledger.takePositions('a', dead, limits), 0);
    const waiting = await swept.submit();
    assert.equal(await swept.serve(), 0, 'its process may still be writing');
    await swept.domain.ledger.undoPositions('a', 'dead', items, undefined);
    assert.equal(await swept.serve(), items);
    const [running] = Object.keys((await swept.domain.ledger.find('a'))?.holders ?? {});
    await endEarly(swept.domain, [await swept.job(running!)]);
    assert.equal((await swept.job(waiting)).state, 'dispatched');
  });

  it('pass over at most a thousand positions of a queue in one run', async () => {
    await swept.claim(await swept.submit(), 'w', 1e9);
    const jobs = Array.from({ length: 1200 }, (_, i) => `item-${i}`);
    const limits = { maxWaiting: 2000, quota: undefined };
    await swept.domain.ledger.takePositions('a', { id: 'dead', jobs, queue: 'bulk' }, limits);
    await swept.submit();
    await swept.domain.ledger.undoPositions('a', 'dead', jobs.length, undefined);
    assert.equal(await swept.serve(), 1000);
    assert.equal(await swept.serve(), 200);
    assert.equal(await swept.serve(), 0);
  });
});
