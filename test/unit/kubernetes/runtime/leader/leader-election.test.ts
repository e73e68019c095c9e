import assert from 'node:assert/strict';
import { LeaderElection } from '../../../../../src/infra/kube/leader/leader-election.ts';
import { LeaseServer } from '../../../../support/kubernetes/lease-server.ts';
import { ManualTimers } from '../../../../support/manual-timers.ts';

/** A candidate whose wall clock is wrong by hours: only what it sees of changes may matter. */
function stand(
  server: LeaseServer,
  identity: string,
  timers: ManualTimers,
  wrongByMs = 0,
  predecessors?: string,
) {
  const log: string[] = [];
  const election = new LeaderElection({
    api: server.connect(identity, timers),
    namespace: 'ns',
    name: 'lease',
    identity,
    ...(predecessors !== undefined && { predecessors }),
    timers,
    clock: { now: () => new Date(Date.UTC(2030, 0, 1) + timers.nowMs() + wrongByMs) },
    random: () => 0.5,
    logger: { info: () => {}, warn: () => {} },
    onElected: () => log.push(`elected ${timers.nowMs()}`),
    onLost: (reason) => log.push(`lost ${timers.nowMs()}: ${reason}`),
  });
  election.start();
  return { election, log };
}

const DAY_MS = 86_400_000;

describe('the election of a leader', () => {
  it('gives the Lease to one candidate, which keeps it', async () => {
    const timers = new ManualTimers();
    const server = new LeaseServer();
    const a = stand(server, 'a', timers);
    const b = stand(server, 'b', timers, DAY_MS);
    await timers.pass(3_600_000);
    assert.equal(Number(a.election.isLeader) + Number(b.election.isLeader), 1);
    assert.equal(server.holders.length, 1);
    assert.equal(a.election.holder, b.election.holder);
  });

  it('ends a leader that cannot renew after ten seconds, and begins with the next after fifteen', async () => {
    const timers = new ManualTimers();
    const server = new LeaseServer();
    const a = stand(server, 'a', timers);
    await timers.pass(5000);
    const b = stand(server, 'b', timers, -DAY_MS);
    await timers.pass(95_000);
    assert.equal(a.election.isLeader, true);
    server.cutOff.add('a');
    await timers.pass(60_000);
    assert.deepEqual(server.holders, ['a', 'b']);
    const lostAtMs = Number(/^lost (\d+): .*not be renewed/.exec(a.log[1] ?? '')?.[1]);
    const electedAtMs = Number(/^elected (\d+)/.exec(b.log[0] ?? '')?.[1]);
    assert.ok(lostAtMs >= 108_000 && lostAtMs <= 110_000, a.log.join());
    assert.ok(electedAtMs >= lostAtMs + 5000 && electedAtMs <= 120_000, b.log.join());
    assert.equal(a.election.isLeader, false);
  });

  it('continues at once with the Lease of an earlier process of the same pod, and waits for that of any other', async () => {
    const timers = new ManualTimers();
    const server = new LeaseServer();
    const first = stand(server, 'pod-1_first', timers, 0, 'pod-1_');
    await timers.pass(20_000);
    server.cutOff.add('pod-1_first');
    await timers.pass(10_000);
    assert.equal(first.election.isLeader, false);
    // It has ended, and could not release its Lease: a candidate in another pod waits 15 s without a renewal.
    const other = stand(server, 'pod-12_other', timers, 0, 'pod-12_');
    await timers.pass(1000);
    const second = stand(server, 'pod-1_second', timers, 0, 'pod-1_');
    await timers.pass(0);
    assert.deepEqual(second.log, ['elected 31000']);
    await timers.pass(60_000);
    assert.deepEqual([other.log, server.holders], [[], ['pod-1_first', 'pod-1_second']]);
  });

  it('leaves nothing that fails later when the Lease is lost', async () => {
    const timers = new ManualTimers();
    const server = new LeaseServer();
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    try {
      const a = stand(server, 'a', timers);
      await timers.pass(20_000);
      server.cutOff.add('a');
      await timers.pass(60_000);
      assert.equal(a.log.length, 2, 'it is lost');
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.off('unhandledRejection', note);
    }
    assert.deepEqual(unhandled, []);
  });

  it('ends leadership after too long a suspension, before any timer has fired', async () => {
    const timers = new ManualTimers();
    const server = new LeaseServer();
    const a = stand(server, 'a', timers);
    await timers.pass(61_000);
    timers.freeze(8900);
    assert.equal(a.election.isLeader, true, 'the last renewal was at 60,000');
    timers.freeze(100);
    assert.equal(a.election.isLeader, false);
    assert.equal(a.log.length, 1);
  });

  it('releases the Lease when it is stopped, and the next candidate leads within two seconds', async () => {
    const timers = new ManualTimers();
    const server = new LeaseServer();
    const a = stand(server, 'a', timers);
    await timers.pass(10_000);
    const b = stand(server, 'b', timers);
    await timers.pass(10_000);
    const stopping = a.election.stop();
    await timers.pass(0);
    await stopping;
    assert.equal(a.election.isLeader, false);
    assert.deepEqual(a.log, ['elected 0']);
    await timers.pass(2400);
    assert.equal(b.election.isLeader, true);
    assert.deepEqual(server.holders, ['a', '', 'b']);
  });

  it('makes no leader once the Lease is lost, even when a response comes late', async () => {
    const timers = new ManualTimers();
    const server = new LeaseServer();
    const a = stand(server, 'a', timers);
    await timers.pass(20_000);
    server.cutOff.add('a');
    await timers.pass(12_000);
    server.cutOff.delete('a');
    await timers.pass(60_000);
    assert.equal(a.election.isLeader, false);
    assert.equal(a.log.length, 2);
  });
});
