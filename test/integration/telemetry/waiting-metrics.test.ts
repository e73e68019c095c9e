import assert from 'node:assert/strict';
import { createMetrics } from '../../../src/roles/metrics.ts';
import { loadOf } from '../../../src/work/jobs/account-loads.ts';
import { measureDemand } from '../../../src/work/jobs/demand.ts';
import { recordDemand } from '../../../src/work/jobs/record-demand.ts';
import { recordWait } from '../../../src/work/jobs/record-wait.ts';
import { newJob, useDomain } from '../../support/domain.ts';

const MINUTE_MS = 60_000;

describe('metrics of waiting jobs', () => {
  const domain = useDomain({ plan: { concurrentRenders: 2 } }, 'each');
  const metrics = createMetrics('test');

  const submit = async () => {
    const created = newJob('a');
    await domain.admit(created);
    return created.job._id;
  };
  const claim = async (id: string) => {
    const job = await domain.store.live.find(id);
    return (await domain.store.transitions.claim(job!, 'worker', 15_000))!.job;
  };
  /** What the dispatcher does every second. @returns the age by pool, in whole minutes: a slow machine adds seconds. */
  const oldest = async () => {
    const ledgers = await domain.ledger.active();
    const acme = { name: 'acme', plan: domain.plan };
    const running = await domain.store.live.countRunning(
      ledgers.flatMap(({ holders }) => Object.keys(holders ?? {})),
    );
    recordDemand(
      metrics,
      measureDemand(ledgers.map(loadOf), () => acme),
      running,
      domain.clock.now(),
    );
    const { values } = await metrics.oldestDispatched.get();
    return Object.fromEntries(values.map(({ labels, value }) => [labels.pool, Math.round(value / 60)]));
  };

  it('show the age of the oldest job that holds a slot and is not claimed', async () => {
    const first = await submit();
    domain.clock.pass(3 * MINUTE_MS);
    const second = await submit();
    // Waits for a slot of its plan: no worker could take it.
    await submit();
    domain.clock.pass(4 * MINUTE_MS);
    assert.deepEqual(await oldest(), { default: 7 });
    await claim(first);
    assert.deepEqual(await oldest(), { default: 4 });
    await claim(second);
    assert.deepEqual(await oldest(), { default: 0 });
  });

  it('divide the wait of a job into that for its plan and that for a worker, at its first attempt only', async () => {
    const start = Date.UTC(2026, 0, 1);
    const job = newJob('a', {
      createdAt: new Date(start),
      dispatchedAt: new Date(start + 4000),
      startedAt: new Date(start + 4500),
      attempts: 1,
    }).job;
    recordWait(metrics, job);
    recordWait(metrics, { ...job, attempts: 2 });
    const { values } = await metrics.jobWait.get();
    const of = (suffix: string) =>
      values
        .filter(({ metricName }) => metricName?.endsWith(suffix))
        .map(({ labels, value }) => [labels.for, labels.class, value]);
    assert.deepEqual(of('_sum'), [
      ['slot', 'bulk', 4],
      ['worker', 'bulk', 0.5],
    ]);
    assert.deepEqual(of('_count'), [
      ['slot', 'bulk', 1],
      ['worker', 'bulk', 1],
    ]);
  });
});
