import assert from 'node:assert/strict';
import { planStatus } from '../../../../src/kubernetes/plans/plan-status.ts';
import { resolvePlans } from '../../../../src/kubernetes/plans/resolve-plans.ts';
import { API_VERSION } from '../../../../src/kubernetes/resources/group.ts';
import type { RenderPlan } from '../../../../src/kubernetes/resources/kinds.ts';
import { DEFAULT_PLANS, type Plan } from '../../../../src/tenants/plans/plan.ts';

const POOLS = new Map([['default', { slotsPerWorker: 2 }]]);
const INSTALLATION = { id: 'a/platen-controller', home: 'a' };
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
    const { set } = resolvePlans([renderPlan('acme', { concurrentRenders: 7 })], POOLS, INSTALLATION);
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
      INSTALLATION,
    );
    assert.equal(set.plans.get('business')?.monthlyRenders, DEFAULT_PLANS.business.monthlyRenders);
    assert.equal(set.plans.get('acme')?.monthlyRenders, 5);
  });

  it('keeps the last valid version of an invalid plan, and names its errors', () => {
    const good = resolvePlans([renderPlan('acme', { concurrentRenders: 7 })], POOLS, INSTALLATION);
    const bad = renderPlan('acme', { concurrentRenders: 0, colour: 'red' }, { generation: 2 });
    const { set, verdicts } = resolvePlans([bad], POOLS, INSTALLATION, good.verdicts);
    assert.equal(set.plans.get('acme')?.concurrentRenders, 7);
    const verdict = verdicts.get('a/acme')!;
    assert.equal(verdict.state, 'Invalid');
    assert.match(verdict.detail ?? '', /concurrentRenders.*colour/s);
    const status = planStatus(bad, verdict, {}, NOW);
    assert.deepEqual(
      status.conditions?.map(({ type, status, reason }) => [type, status, reason]),
      [
        ['Ready', 'False', 'Invalid'],
        ['Accepted', 'False', 'Invalid'],
        ['PoolResolved', 'True', 'PoolFound'],
      ],
    );
  });

  it('finds the last valid version in the status when a new leader begins', () => {
    const inForce: Plan = { ...DEFAULT_PLANS.starter, concurrentRenders: 9 };
    const bad = { ...renderPlan('acme', { concurrentRenders: 'many' }), status: { inForce } };
    assert.equal(resolvePlans([bad], POOLS, INSTALLATION).set.plans.get('acme')?.concurrentRenders, 9);
  });

  it('puts nothing of a plan into force that was never valid', () => {
    const { set, verdicts } = resolvePlans(
      [renderPlan('acme', { concurrentRenders: -1 })],
      POOLS,
      INSTALLATION,
    );
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
    const { set, verdicts } = resolvePlans([younger, older], POOLS, INSTALLATION);
    assert.equal(set.plans.get('acme')?.concurrentRenders, 3);
    assert.deepEqual(verdicts.get('a/acme'), { state: 'NameTaken', detail: 'b/acme', generation: 1 });
  });

  it('gives the name of a built-in plan to none outside the home of the installation, however old it is', () => {
    const abroad = renderPlan('free', { monthlyRenders: 9 }, { namespace: 'b', uid: '1' });
    const alone = resolvePlans([abroad], POOLS, INSTALLATION);
    assert.deepEqual(alone.set.plans.get('free'), DEFAULT_PLANS.free);
    const verdict = alone.verdicts.get('b/free')!;
    assert.deepEqual(verdict, { state: 'NameReserved', detail: 'a', generation: 1 });
    const { conditions } = planStatus(abroad, verdict, { accounts: 3 }, NOW);
    for (const type of ['Ready', 'Accepted']) {
      const { status, reason, message = '' } = conditions?.find((one) => one.type === type) ?? {};
      assert.deepEqual([status, reason], ['False', 'NameReserved']);
      assert.match(message, /only a RenderPlan in the namespace a may change/);
    }
    const both = resolvePlans([abroad, renderPlan('free', { monthlyRenders: 8 })], POOLS, INSTALLATION);
    assert.equal(both.set.plans.get('free')?.monthlyRenders, 8);
    assert.equal(both.verdicts.get('a/free')?.state, 'Valid');
  });

  it('has the default pool run the jobs of a plan whose pool does not exist', () => {
    const { set, verdicts } = resolvePlans([renderPlan('acme', { poolRef: 'gone' })], POOLS, INSTALLATION);
    assert.equal(set.plans.get('acme')?.poolRef, undefined);
    const { wantedPool, pool, poolFound } = verdicts.get('a/acme')!;
    assert.deepEqual(
      { wantedPool, pool, poolFound },
      { wantedPool: 'gone', pool: 'default', poolFound: true },
    );
  });

  it('reports that jobs wait when there is no default pool either', () => {
    const plan = renderPlan('acme', {});
    const verdict = resolvePlans([plan], new Map(), INSTALLATION).verdicts.get('a/acme')!;
    const condition = planStatus(plan, verdict, {}, NOW).conditions?.find(
      ({ type }) => type === 'PoolResolved',
    );
    assert.equal(condition?.reason, 'PoolNotFound');
    assert.match(condition?.message ?? '', /the jobs of the plan wait/);
  });
});
