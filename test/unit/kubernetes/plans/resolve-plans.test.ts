import assert from 'node:assert/strict';
import { planStatus } from '../../../../src/kubernetes/plans/plan-status.ts';
import { resolvePlans } from '../../../../src/kubernetes/plans/resolve-plans.ts';
import { API_VERSION } from '../../../../src/kubernetes/resources/group.ts';
import type { RenderPlan } from '../../../../src/kubernetes/resources/kinds.ts';
import { DEFAULT_PLANS, type Plan } from '../../../../src/plans/plan.ts';

const POOLS = new Map([['default', { slotsPerWorker: 2 }]]);
const NOW = new Date('2026-01-01T00:00:00Z');

function renderPlan(name: string, spec: object, more: Partial<RenderPlan['metadata']> = {}): RenderPlan {
  return {
    apiVersion: API_VERSION,
    kind: 'RenderPlan',
    metadata: { name, namespace: 'a', uid: `${name}-uid`, generation: 1, ...more },
    spec: spec as RenderPlan['spec'],
  };
}

describe('resolving RenderPlans', () => {
  it('applies them over the built-in plans, which stay where no resource describes them', () => {
    const { set } = resolvePlans([renderPlan('acme', { concurrentRenders: 7 })], POOLS);
    assert.deepEqual(set.plans.get('business'), DEFAULT_PLANS.business);
    assert.deepEqual(set.plans.get('acme'), { ...DEFAULT_PLANS.free, concurrentRenders: 7 });
  });

  it('takes missing fields from the built-in plan of the name, and else from free as it is now', () => {
    const { set } = resolvePlans(
      [
        renderPlan('business', { concurrentRenders: 80 }),
        renderPlan('free', { monthlyRenders: 5 }),
        renderPlan('acme', {}),
      ],
      POOLS,
    );
    assert.equal(set.plans.get('business')?.monthlyRenders, DEFAULT_PLANS.business.monthlyRenders);
    assert.equal(set.plans.get('acme')?.monthlyRenders, 5);
  });

  it('keeps the last valid version of an invalid plan, and names its errors', () => {
    const good = resolvePlans([renderPlan('acme', { concurrentRenders: 7 })], POOLS);
    const bad = renderPlan('acme', { concurrentRenders: 0, colour: 'red' }, { generation: 2 });
    const { set, verdicts } = resolvePlans([bad], POOLS, good.verdicts);
    assert.equal(set.plans.get('acme')?.concurrentRenders, 7);
    const verdict = verdicts.get('a/acme')!;
    assert.equal(verdict.state, 'Invalid');
    assert.match(verdict.detail ?? '', /concurrentRenders.*colour/s);
    const status = planStatus(bad, verdict, {}, NOW);
    assert.deepEqual(
      status.conditions?.map(({ type, status, reason }) => [type, status, reason]),
      [
        ['Accepted', 'False', 'Invalid'],
        ['PoolResolved', 'True', 'PoolFound'],
      ],
    );
  });

  it('finds the last valid version in the status when a new leader begins', () => {
    const inForce: Plan = { ...DEFAULT_PLANS.starter, concurrentRenders: 9 };
    const bad = { ...renderPlan('acme', { concurrentRenders: 'many' }), status: { inForce } };
    assert.equal(resolvePlans([bad], POOLS).set.plans.get('acme')?.concurrentRenders, 9);
  });

  it('puts nothing of a plan into force that was never valid', () => {
    const { set, verdicts } = resolvePlans([renderPlan('acme', { concurrentRenders: -1 })], POOLS);
    assert.equal(set.plans.has('acme'), false);
    assert.equal(verdicts.get('a/acme')?.inForce, undefined);
  });

  it('gives a name to the older of two namespaces', () => {
    const older = renderPlan(
      'acme',
      { concurrentRenders: 3 },
      { namespace: 'b', uid: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    );
    const younger = renderPlan(
      'acme',
      { concurrentRenders: 4 },
      { uid: '2', creationTimestamp: '2026-01-02T00:00:00Z' },
    );
    const { set, verdicts } = resolvePlans([younger, older], POOLS);
    assert.equal(set.plans.get('acme')?.concurrentRenders, 3);
    assert.deepEqual(verdicts.get('a/acme'), { state: 'NameTaken', detail: 'b/acme', generation: 1 });
  });

  it('has the default pool run the jobs of a plan whose pool does not exist', () => {
    const { set, verdicts } = resolvePlans([renderPlan('acme', { poolRef: 'gone' })], POOLS);
    assert.equal(set.plans.get('acme')?.poolRef, undefined);
    const { wantedPool, pool, poolFound } = verdicts.get('a/acme')!;
    assert.deepEqual(
      { wantedPool, pool, poolFound },
      { wantedPool: 'gone', pool: 'default', poolFound: true },
    );
  });

  it('reports that jobs wait when there is no default pool either', () => {
    const plan = renderPlan('acme', {});
    const verdict = resolvePlans([plan], new Map()).verdicts.get('a/acme')!;
    const condition = planStatus(plan, verdict, {}, NOW).conditions?.find(
      ({ type }) => type === 'PoolResolved',
    );
    assert.equal(condition?.reason, 'PoolNotFound');
    assert.match(condition?.message ?? '', /its jobs wait/);
  });
});
