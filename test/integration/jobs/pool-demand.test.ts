import assert from 'node:assert/strict';
import { outputKey } from '../../../src/infra/outputs/output-store.ts';
import { DEFAULT_PLANS, type NamedPlan } from '../../../src/tenants/plans/plan.ts';
import { AccountLoads } from '../../../src/work/jobs/account-loads.ts';
import { demandOf, type PoolDemand, readPoolDemand } from '../../../src/work/jobs/demand.ts';
import type { Job } from '../../../src/work/jobs/job.ts';
import {
  UNSEEN_AFTER_MS,
  WorkerRegistry,
  type WorkerReport,
} from '../../../src/work/pools/worker-registry.ts';
import { newJob, openDomain, useDomain } from '../../support/domain.ts';

const CAP = 4;

describe('The demand of a pool', () => {
  const domain = useDomain({ plan: { concurrentRenders: CAP, maxWaitingJobs: 100 } }, 'each');
  let registry: WorkerRegistry;
  let named: NamedPlan;
  let loads: AccountLoads;
  beforeEach(() => {
    const plans = { factsOf: async () => new Map(), named: () => named };
    loads = new AccountLoads({ ledgers: domain.ledgerLoads, plans, clock: domain.clock });
    registry = new WorkerRegistry(domain.connection, domain.clock);
    named = { name: 'professional', plan: domain.plan };
  });

  const submit = async (count: number, accountId = 'a', overrides: Partial<Job> = {}): Promise<string[]> => {
    const ids: string[] = [];
    for (let i = 0; i < count; i += 1) {
      const job = newJob(accountId, overrides);
      await domain.admit(job);
      ids.push(job.job._id);
    }
    return ids;
  };
  const claim = async (id: string, owner: string) => {
    const claimed = await domain.store.transitions.claim((await domain.store.live.find(id))!, owner, 1e6);
    assert.ok(claimed);
    return claimed.job;
  };
  const report = (id: string, overrides: Partial<WorkerReport> = {}) =>
    registry.report({
      _id: id,
      pool: 'default',
      pod: `pod-${id}`,
      namespace: null,
      node: null,
      slots: 2,
      busy: 0,
      state: 'claiming',
      startedAt: new Date(1000),
      sandbox: 'on',
      browser: null,
      ...overrides,
    });
  const read = () => readPoolDemand({ loads, workers: registry, clock: domain.clock });
  const sums = async (pool = 'default') => {
    const { demand, inFlightOnLive } = demandOf(await read(), pool);
    return { demand, inFlightOnLive };
  };

  it('is what its accounts may run, however much they have waiting', async () => {
    assert.deepEqual(await sums(), { demand: 0, inFlightOnLive: 0 });
    await submit(CAP + 50);
    await submit(2, 'b');
    assert.deepEqual(await sums(), { demand: CAP + 2, inFlightOnLive: 0 });
    const before = domain.clock.now().getTime();
    const sample = await read();
    const after = domain.clock.now().getTime();
    assert.deepEqual(sample.byPlan.get('professional'), {
      inFlight: CAP + 2,
      waiting: 50,
      demand: CAP + 2,
    });
    assert.ok(sample.at >= before && sample.at <= after);
  });

  it('holds what live workers have in flight, and not what is on workers that are ending', async () => {
    const [first, second, third] = await submit(CAP);
    await claim(first!, 'stays');
    await claim(second!, 'paused');
    await claim(third!, 'leaves');
    await report('stays', { busy: 1 });
    await report('paused', { state: 'paused', busy: 1 });
    await report('leaves', { busy: 1 });
    assert.deepEqual(await sums(), { demand: 4, inFlightOnLive: 3 });
    await report('leaves', { state: 'ending', busy: 1 });
    assert.deepEqual(await sums(), { demand: 3, inFlightOnLive: 2 });
    // What lost workers held is rendered again, by others.
    domain.clock.pass(UNSEEN_AFTER_MS);
    await report('stays', { busy: 1 });
    assert.deepEqual(await sums(), { demand: 4, inFlightOnLive: 1 });
  });

  it('does not ask for room for what waits behind a slot that is on its way out', async () => {
    const ids = await submit(CAP + 1);
    for (const id of ids.slice(0, CAP)) await claim(id, 'leaves');
    await report('leaves', { state: 'ending', busy: CAP });
    assert.deepEqual(await sums(), { demand: 0, inFlightOnLive: 0 });
    const { store, followUp } = domain;
    const ended = (await store.live.find(ids[0]!))!;
    const output = { key: outputKey(ended._id, 1, new Date()), size: 1, pages: 1, sha256: '' };
    const completed = await store.transitions.complete(ended, output, new Date());
    assert.ok(completed);
    await followUp.follow([completed]);
    await report('leaves', { state: 'ending', busy: CAP - 1 });
    assert.deepEqual(await sums(), { demand: 1, inFlightOnLive: 0 }, 'the slot has been handed on');
  });

  it('is counted where the plan sends the jobs, and where they run already', async () => {
    const ids = await submit(1);
    await submit(CAP + 1, 'b');
    named = {
      name: 'gold',
      plan: { ...DEFAULT_PLANS.business, concurrentRenders: CAP + 1, poolRef: 'large' },
    };
    await claim(ids[0]!, 'w');
    await report('w', { busy: 1 });
    assert.deepEqual(await sums(), { demand: 1, inFlightOnLive: 1 });
    assert.deepEqual(await sums('large'), { demand: 1 + CAP + 1, inFlightOnLive: 0 });
  });

  it('comes with the workers of the pool', async () => {
    await report('w', { busy: 2 });
    await report('idle', { pod: null, state: 'paused', sandbox: 'off' });
    await report('other', { pool: 'large', busy: 1 });
    const sample = await read();
    const workers = (pool: string) =>
      [...demandOf(sample, pool).workers].sort((a, b) => (a.id < b.id ? -1 : 1));
    const expected: PoolDemand['workers'] = [
      { id: 'idle', slots: 2, busy: 0, startedAt: 1000, state: 'paused', sandbox: 'off' },
      { id: 'w', pod: 'pod-w', slots: 2, busy: 2, startedAt: 1000, state: 'claiming', sandbox: 'on' },
    ];
    assert.deepEqual(workers('default'), expected);
    assert.deepEqual(
      workers('large').map(({ id, busy }) => [id, busy]),
      [['other', 1]],
    );
    domain.clock.pass(UNSEEN_AFTER_MS);
    assert.deepEqual(demandOf(await read(), 'default').workers, []);
  });

  it('is not made up when the database cannot be read', async () => {
    const other = await openDomain();
    await other.close();
    const sample = readPoolDemand({
      loads,
      workers: new WorkerRegistry(other.connection, domain.clock),
      clock: domain.clock,
    });
    await assert.rejects(sample);
  });
});
