import assert from 'node:assert/strict';
import { findCondition } from '../../../../src/infra/kube/client/conditions.ts';
import { nextContest } from '../../../../src/kubernetes/pools/contest.ts';
import { DELETION_COST, FIELD_MANAGER } from '../../../../src/kubernetes/pools/labels.ts';
import {
  type ObservedPool,
  type PoolMemory,
  planPool,
  startMemory,
} from '../../../../src/kubernetes/pools/plan-pool.ts';
import { poolStatus } from '../../../../src/kubernetes/pools/pool-status.ts';
import { checkShrink } from '../../../../src/kubernetes/pools/shrink-check.ts';
import type { Deployment, Pod, RenderPool } from '../../../../src/kubernetes/resources/kinds.ts';
import { renderPoolSpecSchema } from '../../../../src/kubernetes/resources/render-pool.ts';
import type { PoolSample, WorkerSample } from '../../../../src/kubernetes/scaling/types.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const AGED = START - 3_600_000;

function deployment(replicas: number, manager = FIELD_MANAGER): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'platen-pool-p',
      managedFields: [{ manager, operation: 'Apply', fieldsV1: { 'f:spec': { 'f:replicas': {} } } }],
    },
    spec: { replicas, selector: { matchLabels: {} }, template: { spec: {} } },
    status: { replicas, updatedReplicas: replicas },
  };
}

interface PodOptions {
  readonly cost?: string;
  /** The managers that have written the cost. */
  readonly costBy?: readonly string[];
  readonly ready?: boolean;
  readonly terminating?: boolean;
  readonly node?: string;
}

function pod(
  name: string,
  { cost, costBy = [FIELD_MANAGER], ready = true, terminating = false, node }: PodOptions = {},
): Pod {
  const status = ready ? 'True' : 'False';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      creationTimestamp: new Date(AGED).toISOString(),
      labels: { 'pod-template-hash': 'x' },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'platen-pool-p-x', uid: 'u', controller: true },
      ],
      ...(cost !== undefined && {
        annotations: { [DELETION_COST]: cost },
        managedFields: costBy.map((manager) => ({
          manager,
          operation: 'Update',
          fieldsV1: { 'f:metadata': { 'f:annotations': { [`f:${DELETION_COST}`]: {} } } },
        })),
      }),
      ...(terminating && { deletionTimestamp: new Date(START).toISOString() }),
    },
    ...(node !== undefined && { spec: { nodeName: node } }),
    status: {
      phase: 'Running',
      conditions: [
        { type: 'Ready', status },
        { type: 'ContainersReady', status },
      ],
    },
  };
}

const worker = (podName: string, overrides: Partial<WorkerSample> = {}): WorkerSample => ({
  id: `w-${podName}`,
  pod: podName,
  busy: 0,
  startedAt: AGED,
  state: 'claiming',
  ...overrides,
});

const sample = (at: number, workers: readonly WorkerSample[], demand = 0): PoolSample => ({
  at,
  demand,
  inFlightOnLive: workers.reduce((sum, { busy }) => sum + busy, 0),
  workers,
});

function observed(overrides: Partial<ObservedPool>): ObservedPool {
  const spec = renderPoolSpecSchema.parse({ mode: 'Manual', replicas: 1, workerYoungSeconds: 0 });
  return {
    name: 'p',
    spec,
    deployment: deployment(2),
    pods: [pod('a'), pod('b')],
    sample: undefined,
    ...overrides,
  };
}

const POOL: RenderPool = {
  apiVersion: 'platen.dev/v1alpha1',
  kind: 'RenderPool',
  metadata: { name: 'p', generation: 1 },
  spec: renderPoolSpecSchema.parse({}),
};

describe('planning a pool', () => {
  it('reconciles every second while a worker is silent, and replaces it when its node has been silent for long enough', () => {
    const spec = renderPoolSpecSchema.parse({ mode: 'Automatic', minReplicas: 2, maxReplicas: 4 });
    const pods = [pod('a', { node: 'node-a' }), pod('b', { node: 'node-b' })];
    const seen = (at: number) => observed({ spec, pods, sample: sample(at, [worker('a', { busy: 1 })], 1) });
    const first = planPool(seen(START), startMemory(START), START);
    assert.deepEqual([first.replicas, first.settled], [2, false]);
    const next = planPool(seen(START + 5000), first.memory, START + 5000);
    assert.equal(next.replicas, 3);
  });

  it('pauses workers, marks empty ones, and removes only those seen marked for a while', () => {
    let memory: PoolMemory = startMemory(START);
    const busyA = worker('a', { busy: 1 });
    const first = planPool(observed({ sample: sample(START, [busyA, worker('b')]) }), memory, START);
    assert.deepEqual([first.replicas, first.pause, first.mark], [2, ['w-b'], []]);
    memory = first.memory;

    const paused = sample(START + 1000, [busyA, worker('b', { state: 'paused' })]);
    const second = planPool(observed({ sample: paused }), memory, START + 1000);
    assert.deepEqual([second.replicas, second.mark], [2, ['b']]);
    memory = second.memory;

    const marked = [pod('a'), pod('b', { cost: '-1000' })];
    const seen = planPool(
      observed({ sample: { ...paused, at: START + 2000 }, pods: marked }),
      memory,
      START + 2000,
    );
    assert.deepEqual([seen.replicas, seen.mark, seen.unmark], [2, [], []]);
    const later = planPool(
      observed({ sample: { ...paused, at: START + 6000 }, pods: marked }),
      seen.memory,
      START + 6000,
    );
    assert.equal(later.replicas, 1);
    assert.deepEqual(
      later.events.map(({ reason }) => reason),
      ['ScaledDown'],
    );
    assert.deepEqual([...(later.shrink?.expected ?? [])], ['b']);
  });

  it('takes the mark from a worker that is to stay', () => {
    const spec = renderPoolSpecSchema.parse({ mode: 'Manual', replicas: 2 });
    const pods = [pod('a', { cost: '-1000' }), pod('b')];
    const plan = planPool(
      observed({ spec, pods, sample: sample(START, [worker('a'), worker('b')]) }),
      startMemory(START),
      START,
    );
    assert.deepEqual(plan.unmark, ['a']);
  });

  it('applies the live size while it has no sample', () => {
    const spec = renderPoolSpecSchema.parse({ minReplicas: 0 });
    const plan = planPool(observed({ spec, deployment: deployment(7) }), startMemory(START), START);
    assert.equal(plan.replicas, 7);
    assert.equal(plan.decision.hold, 'NoReading');
  });

  it('yields to a foreign writer, takes the size back after a while, and yields for longer the next time', () => {
    const theirs = (replicas: number) =>
      observed({
        deployment: deployment(replicas, 'hpa'),
        spec: renderPoolSpecSchema.parse({ mode: 'Manual', replicas: 3 }),
      });
    const at = (ms: number) => ({ sample: sample(START + ms, []) });
    const met = planPool({ ...theirs(1), ...at(0) }, startMemory(START), START);
    assert.equal(met.replicas, 1);
    assert.deepEqual(met.memory.contest?.by, ['hpa']);
    const waits = planPool({ ...theirs(1), ...at(20_000) }, met.memory, START + 20_000);
    assert.equal(waits.replicas, 1);
    const back = planPool({ ...theirs(1), ...at(31_000) }, waits.memory, START + 31_000);
    assert.equal(back.replicas, 3);
    const again = planPool({ ...theirs(1), ...at(40_000) }, back.memory, START + 40_000);
    assert.equal(again.replicas, 1);
    assert.equal((again.memory.contest?.yieldUntilMs ?? 0) - (START + 40_000), 60_000);
  });
});

describe('a deletion cost that another client has written', () => {
  /** One worker of two is to go: `b`, which is idle and paused. Each check is three seconds after the last. */
  function checks(...fleets: (readonly Pod[])[]) {
    let memory: PoolMemory = startMemory(START);
    return fleets.map((pods, index) => {
      const now = START + index * 3000;
      const workers = [worker('a', { busy: 1 }), worker('b', { state: 'paused' })];
      const seen = observed({ pods, sample: sample(now, workers) });
      const plan = planPool(seen, memory, now);
      memory = plan.memory;
      const outcome = { reason: 'Applied', message: '' } as const;
      const { conditions } = poolStatus(
        POOL,
        { observed: seen, plan, outcome, sized: true, plans: [], unreadable: new Map() },
        new Date(now),
      );
      return { plan, soleWriter: findCondition(conditions, 'SoleWriter') };
    });
  }
  const chosen = pod('b', { cost: '-1000' });

  it('keeps the pool from shrinking past a busy worker that would die of it, and is reported', () => {
    const theirs = [pod('a', { cost: '-2000', costBy: ['zoe', 'eve'] }), chosen];
    for (const { plan, soleWriter } of checks(theirs, theirs, theirs)) {
      assert.deepEqual([plan.replicas, plan.mark, plan.unmark], [2, [], []]);
      assert.equal(plan.decision.limitedBy, 'Draining');
      assert.deepEqual([soleWriter?.status, soleWriter?.reason], ['False', 'ForeignDeletionCost']);
      assert.equal(soleWriter?.message, 'eve, zoe has written the deletion cost of pods.');
    }
  });

  it('has no effect once it is gone', () => {
    const theirs = [pod('a', { cost: '-2000', costBy: ['eve'] }), chosen];
    const [held, free] = checks(theirs, [pod('a'), chosen]);
    assert.deepEqual([held?.plan.replicas, free?.plan.replicas], [2, 1]);
    assert.deepEqual([free?.soleWriter?.status, free?.soleWriter?.reason], ['True', 'SoleWriter']);
  });

  it('is left on the chosen worker, which then stays', () => {
    const theirs = [pod('a'), pod('b', { cost: '1000', costBy: ['eve'] })];
    for (const { plan, soleWriter } of checks(theirs, theirs, theirs)) {
      assert.deepEqual([plan.replicas, plan.mark, plan.unmark], [2, [], []]);
      assert.equal(soleWriter?.reason, 'ForeignDeletionCost');
    }
  });

  it('is not foreign when we have written it too', () => {
    const shared = [pod('a'), pod('b', { cost: '-1000', costBy: ['eve', FIELD_MANAGER] })];
    const [first, second] = checks(shared, shared);
    assert.equal(first?.soleWriter?.reason, 'SoleWriter');
    assert.equal(second?.plan.replicas, 1);
  });
});

describe("the condition Sandboxed, by the workers' own tests", () => {
  for (const [what, said, status, reason] of [
    ['all have the sandbox', ['on', 'on'], 'True', 'WorkersSandboxed'],
    ['one of them has not', ['on', 'off'], 'False', 'WorkersUnsandboxed'],
    ['one of them cannot tell', ['unknown', 'on'], 'False', 'WorkersUnsandboxed'],
    ['there is none', [], 'Unknown', 'WorkersUnknown'],
    ['nothing can be read', undefined, 'Unknown', 'WorkersUnknown'],
  ] as const) {
    it(`is ${status} when ${what}`, () => {
      const workers = said?.map((sandbox, index) => worker(`w${index}`, { sandbox }));
      const seen = observed({ sample: workers && sample(START, workers) });
      const plan = planPool(seen, startMemory(START), START);
      const outcome = { reason: 'Applied', message: '' } as const;
      const { conditions } = poolStatus(
        POOL,
        { observed: seen, plan, outcome, sized: true, plans: [], unreadable: new Map() },
        new Date(START),
      );
      const { status: found, reason: why } = findCondition(conditions, 'Sandboxed') ?? {};
      assert.deepEqual([found, why], [status, reason]);
    });
  }
});

describe('a contest', () => {
  it('is over when no other client has written for a quarter of an hour', () => {
    const contest = nextContest(undefined, ['hpa'], START);
    assert.equal(nextContest(contest, [], START + 60_000)?.count, 1);
    assert.equal(nextContest(contest, [], START + 16 * 60_000), undefined);
  });
});

describe('a worker that dies of a shrink', () => {
  const check = { expected: new Set(['b']), staying: new Set(['a', 'c']), pods: 1, untilMs: START + 30_000 };

  it('is right when it was chosen', () => {
    assert.deepEqual(checkShrink(check, [pod('a'), pod('c')], START), { check: undefined, wrong: [] });
  });

  it('is wrong when it dies instead of a chosen one', () => {
    const pods = [pod('a', { terminating: true }), pod('b'), pod('c')];
    assert.deepEqual(checkShrink(check, pods, START), { check: undefined, wrong: ['a'] });
  });

  it('is not reported while none has died, nor after the check', () => {
    const pods = [pod('a'), pod('b'), pod('c')];
    assert.equal(checkShrink(check, pods, START).check, check);
    assert.deepEqual(checkShrink(check, pods, START + 30_000), { check: undefined, wrong: [] });
  });

  it('is not counted for a pod that is drained from its node', () => {
    const drained = pod('a', { terminating: true });
    const disrupted = { ...drained, status: { conditions: [{ type: 'DisruptionTarget', status: 'True' }] } };
    assert.deepEqual(checkShrink(check, [disrupted, pod('b'), pod('c')], START).wrong, []);
  });
});
