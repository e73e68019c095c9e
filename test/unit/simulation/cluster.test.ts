import assert from 'node:assert/strict';
import { seeded } from '../../chaos/random.ts';
import { Cluster } from '../../simulation/cluster.ts';
import { EventQueue } from '../../simulation/event-queue.ts';
import { idealDemand, Oracle } from '../../simulation/scalers/oracle.ts';
import type { Scaler } from '../../simulation/scalers/scaler.ts';
import { simulate } from '../../simulation/simulate.ts';
import type { Trace } from '../../simulation/traces.ts';

const SECOND = 1000;

/** A trace of these jobs: arrival, tenant and service time. */
function traceOf(jobs: [number, number, number][], changes: Partial<Trace> = {}): Trace {
  return {
    name: 'test',
    about: '',
    durationMs: 600 * SECOND,
    jobs: {
      arrival: Float64Array.from(jobs, ([at]) => at),
      tenant: Uint32Array.from(jobs, ([, tenant]) => tenant),
      service: Float64Array.from(jobs, ([, , service]) => service),
    },
    capOf: () => 2,
    startDelay: [20 * SECOND, 20 * SECOND],
    burst: false,
    ...changes,
  };
}

function clusterOf(trace: Trace, replicas: number): { cluster: Cluster; events: EventQueue } {
  const events = new EventQueue();
  return { cluster: new Cluster(trace, events, { slotsPerWorker: 4, replicas, random: seeded(1) }), events };
}

/** So many jobs at one moment, each of a tenant of its own unless one is named. */
function many(count: number, at: number, service: number, tenant?: number): [number, number, number][] {
  return Array.from({ length: count }, (_, index) => [at, tenant ?? index, service]);
}

const fixed: Scaler = { name: 'fixed', everyMs: 60 * SECOND, tick: () => {} };

describe('the simulated cluster', () => {
  it('lets a tenant have as many in flight as its plan says, and counts as demand what may run', () => {
    const { cluster, events } = clusterOf(traceOf(many(10, 0, 5 * SECOND, 7)), 5);
    events.runUntil(SECOND);
    assert.deepEqual([cluster.demand, cluster.accounts.open], [2, 10]);
    events.runUntil(21 * SECOND);
    assert.deepEqual([cluster.demand, cluster.accounts.open], [2, 2], 'eight have ended, two at a time');
    events.runUntil(26 * SECOND);
    assert.deepEqual([cluster.demand, cluster.accounts.open], [0, 0]);
  });

  it('counts what waits for a worker as demand', () => {
    const { cluster, events } = clusterOf(traceOf(many(10, 0, 5 * SECOND)), 1);
    events.runUntil(SECOND);
    assert.deepEqual([cluster.demand, cluster.ready.length], [10, 6]);
  });

  it('starts pods with their delay', () => {
    const { cluster, events } = clusterOf(traceOf(many(8, 0, 60 * SECOND)), 1);
    events.runUntil(SECOND);
    cluster.scaleTo(2);
    events.runUntil(20 * SECOND);
    assert.equal(cluster.readyPods, 1);
    events.runUntil(21 * SECOND);
    assert.deepEqual([cluster.readyPods, cluster.ready.length], [2, 0]);
  });

  it('takes away pending pods first, then the marked, then the youngest', () => {
    const { cluster, events } = clusterOf(traceOf([]), 2);
    events.runUntil(10 * SECOND);
    cluster.scaleTo(3);
    events.runUntil(40 * SECOND);
    cluster.scaleTo(4);
    cluster.mark(cluster.pods[0]!, true);
    events.runUntil(41 * SECOND);
    const left = () => cluster.alivePods.map(({ name }) => name);
    cluster.scaleTo(3);
    assert.deepEqual(left(), ['pod-1', 'pod-2', 'pod-3']);
    cluster.scaleTo(2);
    assert.deepEqual(left(), ['pod-2', 'pod-3']);
    cluster.scaleTo(1);
    assert.deepEqual(left(), ['pod-2']);
  });

  it('lets who is taken away finish, and counts its time', () => {
    const { cluster, events } = clusterOf(traceOf(many(4, 0, 30 * SECOND)), 1);
    events.runUntil(10 * SECOND);
    cluster.scaleTo(0);
    events.runUntil(60 * SECOND);
    assert.equal(cluster.accounts.open, 0);
    assert.equal(cluster.podMs, 31 * SECOND);
  });

  it('renders elsewhere what a lost node had, when the leases have ended', () => {
    const trace = traceOf(many(8, 0, 30 * SECOND), { nodeLost: { at: 10 * SECOND, share: 1 / 2 } });
    const { cluster, events } = clusterOf(trace, 2);
    events.runUntil(21 * SECOND);
    assert.equal(cluster.demand, 4, 'four are on a worker that is not seen any more');
    events.runUntil(26 * SECOND);
    assert.deepEqual([cluster.demand, cluster.ready.length], [8, 4]);
    events.runUntil(70 * SECOND);
    assert.equal(cluster.accounts.open, 0);
    assert.deepEqual([cluster.readyPods, cluster.alivePods.length], [1, 2]);
    events.runUntil(400 * SECOND);
    assert.equal(cluster.readyPods, 2, 'evicted after five minutes, and replaced');
  });

  it('lets as many wait as Erlang says, with arrivals and services by chance', () => {
    const random = seeded(3);
    const exponential = (mean: number) => -Math.log(1 - random()) * mean;
    const jobs: [number, number, number][] = [];
    for (let at = 0; jobs.length < 200_000; at += exponential(100))
      jobs.push([at, jobs.length, exponential(1000)]);
    const trace = traceOf(jobs, { durationMs: 20_100 * SECOND });
    const { cluster, events } = clusterOf(trace, 3);
    events.runUntil(trace.durationMs);
    const waited = jobs.filter(
      (_, job) => cluster.startedAt[job]! - cluster.dispatchedAt[job]! > 1e-6,
    ).length;
    const expected = 0.4494;
    assert.ok(
      Math.abs(waited / jobs.length - expected) < 0.03,
      `${waited / jobs.length}: 12 slots for a load of 10`,
    );
  });

  it('lets nobody wait under the oracle', () => {
    const jobs = [...many(40, 100 * SECOND, 20 * SECOND), ...many(4, 300 * SECOND, 5 * SECOND)];
    const trace = traceOf(jobs);
    const options = { maxReplicas: 100, slotsPerWorker: 4 };
    const oracle = new Oracle(trace, idealDemand(trace), options);
    const outcome = simulate(trace, oracle, { ...options, replicas: 0, seed: 1 });
    assert.equal(outcome.workerWait.p99, 0);
    assert.ok(outcome.podHours < (10 * 45 + 45) / 3600, 'and pods are there only when they are needed');
  });

  it('counts what never starts as waiting until the end', () => {
    const trace = traceOf(many(5, 0, SECOND));
    const outcome = simulate(trace, fixed, { maxReplicas: 1, slotsPerWorker: 4, replicas: 0, seed: 1 });
    assert.deepEqual([outcome.unstarted, outcome.wait.p50], [5, trace.durationMs]);
  });
});
