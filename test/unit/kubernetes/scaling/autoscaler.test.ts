import assert from 'node:assert/strict';
import { DecidedPool, MINUTE, numbers, pod, worker } from './pools.ts';

describe('the size of a pool', () => {
  it('follows the demand, in slots of its target utilisation', () => {
    const pool = new DecidedPool(0, { targetUtilisation: 0.9 });
    pool.demand = 16;
    assert.equal(pool.decide().desired, 5, '(16 + 2) / (4 × 0.9)');
  });

  it('has the configured headroom, or more where the demand is large', () => {
    const pool = new DecidedPool(0, { headroomSlots: 3 });
    pool.demand = 2;
    assert.equal(pool.decide().want, 2);
    pool.demand = 400;
    assert.equal(pool.decide().want, Math.ceil((400 + 0.5 * 20) / 4));
  });

  it('goes up at once, and reports its limit', () => {
    const pool = new DecidedPool(2, { maxReplicas: 10 });
    pool.demand = 4000;
    const decision = pool.decide();
    assert.equal(decision.desired, 10);
    assert.equal(decision.reason, 'Raised');
    assert.equal(decision.limitedBy, 'MaxReplicas');
    assert.ok((decision.want ?? 0) > 1000);
  });

  it('has a bounded number of pending pods', () => {
    const pool = new DecidedPool(2, { maxPendingPods: 5 });
    pool.demand = 400;
    const first = pool.decide();
    assert.deepEqual([first.desired, first.limitedBy], [7, 'MaxPendingPods']);
    pool.fleet = { ...pool.fleet, replicas: 7 };
    assert.equal(pool.decide().desired, 7, 'none of the five has come');
    pool.fleet = { ...pool.fleet, pods: [...pool.fleet.pods, pod(3), pod(4)] };
    assert.equal(pool.decide().desired, 9, 'two of them have');
  });

  it('is zero without demand where the minimum is, and one worker for the first job', () => {
    const pool = new DecidedPool(0, { headroomSlots: 3 });
    assert.equal(pool.decide().desired, 0);
    pool.demand = 1;
    assert.equal(pool.decide().desired, 1);
  });

  it('counts jobs in flight as demand, when the two were not read together', () => {
    const pool = new DecidedPool(2);
    pool.change(1, { busy: 4 });
    pool.change(2, { busy: 4 });
    pool.demand = 3;
    assert.equal(pool.decide().want, 3);
  });

  it('replaces what a lost node took, until it is known to be gone', () => {
    const pool = new DecidedPool(4);
    pool.demand = 16;
    pool.changePod(1, { phase: 'unreachable' });
    assert.equal(pool.decide().desired, 5, 'its worker is still heard of: ceil((16 + 2) / 4)');
    pool.workers = pool.workers.slice(1);
    assert.equal(pool.decide().desired, 6);
  });

  describe('of which a node falls silent', () => {
    let pool: DecidedPool;
    beforeEach(() => {
      pool = new DecidedPool(5);
      pool.demand = 16;
      for (const number of numbers(5)) pool.changePod(number, { node: number <= 2 ? 'a' : 'b' });
      assert.equal(pool.decide().desired, 5, 'ceil((16 + 2) / 4)');
    });
    const silence = (...silent: number[]) => {
      const workers = pool.workers;
      pool.workers = workers.filter(({ id }) => !silent.includes(Number(id.slice(1))));
      return () => {
        pool.workers = workers;
      };
    };

    it('replaces its workers long before Kubernetes reports that the node is lost', () => {
      silence(1, 2);
      assert.equal(pool.after(4000).desired, 5);
      assert.equal(pool.after(1000).desired, 7);
    });

    it('replaces pods that the scheduler puts there meanwhile, too, and nothing twice', () => {
      silence(1, 2);
      pool.after(5000);
      const more = [pod(6, { phase: 'pending', node: 'a' }), pod(7, { phase: 'pending', node: 'b' })];
      pool.fleet = { ...pool.fleet, replicas: 7, pods: [...pool.fleet.pods, ...more] };
      assert.equal(pool.decide().desired, 8);
      for (const number of [1, 2]) pool.changePod(number, { phase: 'unreachable' });
      pool.fleet = { ...pool.fleet, replicas: 8 };
      assert.equal(pool.decide().desired, 8, 'none is added when Kubernetes says so as well');
    });

    it('stays unchanged while one worker there is seen', () => {
      silence(1);
      assert.equal(pool.after(60_000).desired, 5);
    });

    it('stays unchanged when its workers are seen again, or no worker is seen at all', () => {
      const back = silence(1, 2);
      pool.after(4000);
      back();
      pool.after(1000);
      silence(1, 2);
      assert.equal(pool.after(4000).desired, 5);
      // The database is away, for everybody; and then back, for the controller first.
      pool.readable = false;
      pool.after(5000);
      pool.readable = true;
      assert.equal(pool.after(4000).desired, 5);
      silence(1, 2, 3, 4, 5);
      assert.equal(pool.after(60_000).desired, 5, 'that is not the nodes');
    });
  });

  it('goes down to the largest size of the window', () => {
    const pool = new DecidedPool(0);
    pool.demand = 40;
    assert.equal(pool.decide().want, 11);
    pool.demand = 20;
    pool.nowMs += 10_000;
    pool.decide();
    pool.demand = 0;
    pool.fleet = { replicas: 11, pods: [], rolling: false };
    pool.nowMs += 5000;
    const early = pool.decide();
    assert.deepEqual([early.desired, early.limitedBy], [11, 'StabilisationWindow']);
    assert.equal(pool.after(44_000).desired, 11);
    assert.equal(pool.after(1000).desired, 6, 'the twenty of ten seconds later');
  });
});

describe('a pool whose demand cannot be known', () => {
  it('stays at its size without a sample', () => {
    const pool = new DecidedPool(4);
    pool.readable = false;
    const decision = pool.after(10 * MINUTE);
    assert.deepEqual([decision.desired, decision.hold, decision.want], [4, 'NoReading', undefined]);
    assert.deepEqual([decision.pause, decision.remove], [[], []]);
  });

  it('stays at its size with a sample that is older than ten seconds', () => {
    const pool = new DecidedPool(4);
    pool.demand = 100;
    pool.ageMs = 10_000;
    assert.equal(pool.decide().hold, undefined);
    pool.ageMs = 10_001;
    const decision = pool.decide();
    assert.deepEqual([decision.desired, decision.hold, decision.reason], [4, 'StaleReading', 'Held']);
  });

  it('goes to its fallback size from zero, after a minute', () => {
    const pool = new DecidedPool(0);
    pool.readable = false;
    assert.equal(pool.after(MINUTE - 1000).desired, 0);
    const decision = pool.after(1000);
    assert.deepEqual([decision.desired, decision.reason, decision.hold], [2, 'Fallback', 'NoReading']);
  });

  it('does not shrink when the samples come back before they have filled a window', () => {
    const pool = new DecidedPool(4);
    pool.demand = 16;
    pool.decide();
    pool.readable = false;
    pool.after(5 * MINUTE);
    pool.readable = true;
    pool.demand = 0;
    assert.deepEqual(pool.after(MINUTE - 2000).pause, []);
    assert.equal(pool.after(2000).pause.length, 4);
  });

  it('still has the configured minimum', () => {
    const pool = new DecidedPool(1, { minReplicas: 3 });
    pool.readable = false;
    assert.equal(pool.decide().desired, 3);
  });
});

describe('a new leader', () => {
  it('starts from the present replicas', () => {
    const pool = new DecidedPool(7);
    const decision = pool.decide();
    assert.deepEqual([decision.desired, decision.limitedBy, decision.pause], [7, 'StabilisationWindow', []]);
    assert.deepEqual(pool.after(MINUTE - 2000).pause, []);
  });

  it('resumes workers that the last one had paused, until it knows that they may go', () => {
    const pool = new DecidedPool(2);
    pool.change(1, { state: 'paused' });
    assert.deepEqual(pool.decide().resume, ['w1']);
  });
});

describe('a pool in maintenance', () => {
  it('stays at its size, and its draining workers resume', () => {
    const pool = new DecidedPool(3, { minReplicas: 5 });
    pool.after(2 * MINUTE);
    pool.change(2, { state: 'paused' });
    pool.scaling = { ...pool.scaling, paused: true };
    pool.demand = 100;
    const decision = pool.decide();
    assert.deepEqual([decision.desired, decision.hold, decision.resume], [3, 'Paused', ['w2']]);
  });
});

describe('a pool in manual mode', () => {
  it('goes to the configured size, up at once and down in two phases', () => {
    const pool = new DecidedPool(2, { manualReplicas: 4 });
    assert.equal(pool.decide().desired, 4);
    pool.scaling = { ...pool.scaling, manualReplicas: 1 };
    pool.demand = 100;
    const decision = pool.decide();
    assert.deepEqual([decision.desired, decision.pause], [2, ['w1']]);
  });
});

describe('shrinking', () => {
  /** A pool with `replicas` workers that has wanted one for longer than its window. */
  function tooLarge(replicas: number): DecidedPool {
    const pool = new DecidedPool(replicas, { minReplicas: 1 });
    pool.after(2 * MINUTE);
    return pool;
  }

  it('pauses idle workers first, and leaves the size as it is', () => {
    const pool = tooLarge(3);
    pool.change(1, { busy: 2 });
    pool.demand = 2;
    const decision = pool.decide();
    assert.deepEqual([decision.pause, decision.desired, decision.limitedBy], [['w2', 'w3'], 3, 'Draining']);
  });

  it('marks workers seen empty, and goes down when the marks have been seen for three seconds', () => {
    const pool = tooLarge(2);
    pool.change(1, { state: 'paused', busy: 1 });
    pool.demand = 1;
    assert.deepEqual(pool.decide().remove, [], 'one render is left');
    pool.change(1, { busy: 0 });
    assert.deepEqual(pool.decide().remove, ['w1']);
    assert.equal(pool.after(30_000).desired, 2, 'the mark has not come into the cache');
    pool.changePod(1, { marked: true });
    assert.equal(pool.after(2000).desired, 2);
    const decision = pool.after(1000);
    assert.deepEqual([decision.desired, decision.reason, decision.remove], [1, 'Shrunk', ['w1']]);
  });

  it('uses no sample from before the mark: a worker that was empty then may have claimed since', () => {
    const pool = tooLarge(2);
    pool.change(1, { state: 'paused' });
    pool.changePod(1, { marked: true });
    pool.ageMs = 8000;
    assert.equal(pool.after(10_000).desired, 2);
    assert.equal(pool.after(1000).desired, 1, 'read three seconds after the mark was seen');
  });

  it('waits while a mark stands on a pod that is to stay', () => {
    const pool = tooLarge(2);
    pool.change(1, { state: 'paused' });
    pool.changePod(1, { marked: true });
    pool.changePod(2, { marked: true });
    assert.equal(pool.after(10_000).desired, 2);
    pool.changePod(2, { marked: false });
    assert.equal(pool.decide().desired, 1);
  });

  it('keeps the mark until the pod is gone, and counts it once', () => {
    const pool = tooLarge(3);
    pool.change(1, { state: 'paused' });
    pool.change(2, { state: 'paused' });
    pool.changePod(1, { marked: true });
    pool.changePod(2, { marked: true });
    const decision = pool.after(3000);
    assert.equal(decision.desired, 1);
    pool.fleet = { ...pool.fleet, replicas: 1 };
    const next = pool.after(5000);
    assert.deepEqual([next.desired, next.remove], [1, ['w1', 'w2']], 'the pods are still there');
    pool.changePod(1, { phase: 'terminating' });
    pool.changePod(2, { phase: 'terminating' });
    assert.equal(pool.decide().desired, 1);
  });

  it('lets a worker resume when demand comes back', () => {
    const pool = tooLarge(2);
    pool.change(1, { state: 'paused' });
    pool.changePod(1, { marked: true });
    pool.decide();
    pool.demand = 7;
    const decision = pool.decide();
    assert.deepEqual([decision.resume, decision.pause, decision.remove], [['w1'], [], []]);
    pool.demand = 0;
    assert.deepEqual(pool.decide().pause, [], 'and the window begins again');
  });

  it('chooses no worker that is young, starting, or without a pod', () => {
    const pool = tooLarge(4);
    pool.change(1, { startedAt: pool.nowMs - 29_000 });
    pool.change(2, { state: 'starting' });
    pool.change(3, { pod: undefined });
    pool.change(4, { busy: 4 });
    assert.deepEqual(pool.decide().pause, ['w4']);
    assert.equal(pool.decide().limitedBy, 'WorkersYoung');
  });

  it('removes no worker while a pod may be starting, since the ReplicaSet would remove that one', () => {
    const pool = tooLarge(3);
    pool.changePod(3, { phase: 'pending', createdAt: pool.nowMs - 10_000 });
    pool.workers = [worker(1), worker(2)];
    const decision = pool.decide();
    assert.deepEqual([decision.desired, decision.pause, decision.limitedBy], [3, [], 'PodsStarting']);
  });

  it('removes no worker while one whose pod is not ready may work', () => {
    const pool = tooLarge(3);
    pool.changePod(3, { phase: 'pending' });
    assert.equal(pool.decide().limitedBy, 'WorkersBusy');
    pool.change(3, { state: 'paused', busy: 1 });
    assert.equal(pool.decide().limitedBy, 'WorkersBusy');
  });

  it('first removes pods that have not become ready for long, without waiting for workers', () => {
    const pool = tooLarge(4);
    pool.workers = [worker(1), worker(2)];
    pool.changePod(3, { phase: 'pending' });
    pool.changePod(4, { phase: 'pending' });
    const decision = pool.decide();
    assert.deepEqual([decision.desired, decision.pause], [2, ['w1']]);
  });

  it('removes as many in a period as allowed, and at least one', () => {
    const pool = tooLarge(10);
    pool.scaling = { ...pool.scaling, scaleDown: { ...pool.scaling.scaleDown, maxPercent: 25 } };
    const decision = pool.decide();
    assert.deepEqual([decision.pause.length, decision.limitedBy], [2, 'ScaleDownRate']);
    for (const number of [1, 2]) {
      pool.change(number, { state: 'paused' });
      pool.changePod(number, { marked: true });
    }
    assert.equal(pool.after(3000).desired, 8);
    pool.fleet = { ...pool.fleet, replicas: 8, pods: pool.fleet.pods.slice(2) };
    pool.workers = pool.workers.slice(2);
    assert.deepEqual(pool.after(59_000).pause, []);
    assert.equal(pool.after(1000).pause.length, 2);
    pool.scaling = { ...pool.scaling, scaleDown: { ...pool.scaling.scaleDown, maxPercent: 1 } };
    assert.equal(pool.decide().pause.length, 1);
  });

  it('waits for a rolling update to end', () => {
    const pool = tooLarge(3);
    pool.fleet = { ...pool.fleet, rolling: true };
    const decision = pool.decide();
    assert.deepEqual([decision.desired, decision.pause, decision.limitedBy], [3, [], 'RollingUpdate']);
  });
});
