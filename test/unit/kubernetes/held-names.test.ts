import assert from 'node:assert/strict';
import { heldNames } from '../../../src/kubernetes/held-names.ts';
import { resolvePlans } from '../../../src/kubernetes/plans/resolve-plans.ts';
import { rejectedStatus } from '../../../src/kubernetes/pools/pool-status.ts';
import { poolsInForce } from '../../../src/kubernetes/pools/pools-in-force.ts';
import { API_VERSION } from '../../../src/kubernetes/resources/group.ts';
import type { RenderPlan, RenderPool } from '../../../src/kubernetes/resources/kinds.ts';
import { DEFAULT_PLANS, type Plan } from '../../../src/tenants/plans/plan.ts';
import type { MirroredSet } from '../../../src/tenants/plans/plan-mirror.ts';
import { BUILT_IN } from '../../../src/tenants/plans/plan-source.ts';

const THEIRS: Plan = { ...DEFAULT_PLANS.free, concurrentRenders: 33, poolRef: 'there' };
const INSTALLATION = { id: 'a/platen-controller', home: 'a' };
const NOW = new Date('2026-01-01T00:00:00Z');

/** The plan `theirs` and the pool `there`, which namespace b has. */
function mirrored(origins: MirroredSet['origins']): MirroredSet {
  const plans = new Map([...BUILT_IN.plans, ['theirs', THEIRS] as const]);
  return { revision: 1, set: { plans, pools: new Map([['there', { slotsPerWorker: 3 }]]) }, origins };
}
const ORIGINS = { plans: new Map([['theirs', 'b']]), pools: new Map([['there', 'b']]) };

function unread(...namespaces: string[]) {
  return { plans: new Set(namespaces), pools: new Set(namespaces) };
}

function plan(name: string, spec: object): RenderPlan {
  const metadata = { name, namespace: 'a', uid: name, generation: 1 };
  return { apiVersion: API_VERSION, kind: 'RenderPlan', metadata, spec: spec as RenderPlan['spec'] };
}

function pool(name: string, spec: object, status?: RenderPool['status']): RenderPool {
  const metadata = { name, namespace: 'a', uid: name, generation: 1 };
  return {
    apiVersion: API_VERSION,
    kind: 'RenderPool',
    metadata,
    spec: spec as RenderPool['spec'],
    ...(status && { status }),
  };
}

describe('plans and pools of a namespace that cannot be read', () => {
  it('stay in force as they were mirrored, and keep their names', () => {
    const held = heldNames(mirrored(ORIGINS), unread('b'));
    const { pools, origins } = poolsInForce([pool('there', { slotsPerWorker: 1 })], INSTALLATION, held.pools);
    assert.deepEqual([...pools], [['there', { slotsPerWorker: 3 }]]);
    assert.deepEqual([...origins], [['there', 'b']]);
    const seen = [plan('theirs', { concurrentRenders: 44 }), plan('ours', { poolRef: 'there' })];
    const resolved = resolvePlans(seen, pools, INSTALLATION, undefined, held.plans);
    assert.deepEqual(resolved.set.plans.get('theirs'), THEIRS);
    assert.equal(resolved.set.plans.get('ours')?.poolRef, 'there');
    assert.deepEqual(resolved.verdicts.get('a/theirs'), {
      state: 'NameTaken',
      detail: 'b/theirs',
      generation: 1,
    });
    assert.deepEqual(
      resolved.origins,
      new Map([
        ['ours', 'a'],
        ['theirs', 'b'],
      ]),
    );
  });

  it('are read again once the namespace can be, and held when it is another that cannot be', () => {
    for (const { plans, pools } of [
      heldNames(mirrored(ORIGINS), unread()),
      heldNames(mirrored(ORIGINS), unread('c')),
    ]) {
      assert.equal(plans.size + pools.size, 0);
      assert.equal(
        resolvePlans([], new Map(), INSTALLATION, undefined, plans).set.plans.has('theirs'),
        false,
      );
    }
  });

  it('are held wherever they came from when their origin was not noted, unless an object has the name', () => {
    const held = heldNames(mirrored(undefined), unread('b'));
    assert.equal(
      resolvePlans([], new Map(), INSTALLATION, undefined, held.plans).set.plans.get('theirs')
        ?.concurrentRenders,
      33,
    );
    const { set, origins } = resolvePlans(
      [plan('theirs', { concurrentRenders: 44 })],
      new Map(),
      INSTALLATION,
      undefined,
      held.plans,
    );
    assert.equal(set.plans.get('theirs')?.concurrentRenders, 44);
    assert.equal(origins.get('theirs'), 'a');
    assert.deepEqual(
      [...poolsInForce([], INSTALLATION, held.pools).pools],
      [['there', { slotsPerWorker: 3 }]],
    );
    const seen = poolsInForce([pool('there', { slotsPerWorker: 1 })], INSTALLATION, held.pools);
    assert.deepEqual([...seen.pools], [['there', { slotsPerWorker: 1 }]]);
  });
});

describe('a pool whose spec has become invalid', () => {
  it('still has its workers for a controller that starts anew', () => {
    const lastTransitionTime = '2026-01-01T00:00:00Z';
    const applied = {
      type: 'WorkersApplied',
      status: 'True',
      reason: 'Applied',
      message: '',
      lastTransitionTime,
    };
    const broken = pool('p', { slotsPerWorker: 2, maxReplicas: 'many' }, {
      conditions: [applied],
    } as RenderPool['status']);
    const acceptance = { state: 'Invalid', errors: 'maxReplicas: not a number' } as const;
    const status = rejectedStatus(broken, acceptance, new Map(), NOW);
    assert.deepEqual(
      [...poolsInForce([{ ...broken, status }], INSTALLATION).pools],
      [['p', { slotsPerWorker: 2 }]],
    );
  });
});
