import assert from 'node:assert/strict';
import mongoose, { type Connection } from 'mongoose';
import { pino } from 'pino';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { openMirroredPlans } from '../../../src/tenants/plans/mirrored-plans.ts';
import { DEFAULT_PLANS, type Plan } from '../../../src/tenants/plans/plan.ts';
import { PlanMirror } from '../../../src/tenants/plans/plan-mirror.ts';
import { BUILT_IN, type PlanSet, type PoolSettings } from '../../../src/tenants/plans/plan-source.ts';
import { eventually } from '../../support/eventually.ts';
import { startMongo } from '../../support/mongo.ts';

const logger = pino({ level: 'silent' });

function setOf(plans: Record<string, Plan>, pools: Record<string, PoolSettings> = {}): PlanSet {
  return {
    plans: new Map([...BUILT_IN.plans, ...Object.entries(plans)]),
    pools: new Map(Object.entries(pools)),
  };
}

describe('The mirror of the plans', () => {
  let uri: string;
  let connection: Connection;
  let mirror: PlanMirror;
  beforeEach(async () => {
    ({ uri } = await startMongo());
    connection = await connectDatabase(uri, logger);
    mirror = new PlanMirror(connection);
  });
  afterEach(() => connection.close());

  const acme = { ...DEFAULT_PLANS.business, concurrentRenders: 77, poolRef: 'acme.large' };

  it('contains what was written last, also names with dots', async () => {
    assert.equal(await mirror.read(), undefined);
    assert.equal(await mirror.revision(), 0);
    await mirror.write(setOf({ 'acme.eu': acme }, { 'acme.large': { slotsPerWorker: 8 } }));
    const read = await mirror.read();
    assert.equal(read?.revision, await mirror.revision());
    assert.deepEqual(read?.set.plans.get('acme.eu'), acme);
    assert.deepEqual(read?.set.plans.get('starter'), DEFAULT_PLANS.starter);
    assert.deepEqual(read?.set.pools, new Map([['acme.large', { slotsPerWorker: 8 }]]));
    await mirror.write(setOf({}));
    assert.equal((await mirror.read())?.set.plans.has('acme.eu'), false);
  });

  it('gets a new revision only by a change', async () => {
    const first = await mirror.write(setOf({ acme }));
    const reordered: PlanSet = {
      plans: new Map([...setOf({ acme }).plans].reverse()),
      pools: new Map(),
    };
    assert.equal(await mirror.write(reordered), first);
    assert.equal(await mirror.write(setOf({ acme: { ...acme, poolRef: undefined } })), first + 1);
    assert.equal(await mirror.write(setOf({ acme }, { acme: { slotsPerWorker: 1 } })), first + 2);
    assert.equal(await mirror.revision(), first + 2);
  });

  it('contains one complete set after concurrent writes, and counts each change once', async () => {
    const others = await Promise.all([1, 2, 3].map(() => connectDatabase(uri, logger)));
    const sizes = [1, 2, 3];
    await Promise.all(
      others.map((other, n) =>
        new PlanMirror(other).write(
          setOf({
            a: { ...acme, concurrentRenders: sizes[n]! },
            b: { ...acme, concurrentRenders: sizes[n]! },
          }),
        ),
      ),
    );
    const { plans } = (await mirror.read())!.set;
    assert.equal(plans.get('a')?.concurrentRenders, plans.get('b')?.concurrentRenders);
    assert.equal(await mirror.revision(), 3);
    await Promise.all(others.map((other) => other.close()));
  });

  it('completes a plan with the fields of the plan free', async () => {
    const { maxBatchItems: _, ...older } = acme;
    await mirror.write(setOf({}));
    const raw = await mongoose.createConnection(uri).asPromise();
    await raw
      .collection('plan_mirror')
      .updateMany({}, { $set: { plans: [{ name: 'older', ...older, features: { callbacks: true } }] } });
    await raw.close();
    const { plans } = (await mirror.read())!.set;
    assert.deepEqual(plans.get('older'), {
      ...acme,
      maxBatchItems: DEFAULT_PLANS.free.maxBatchItems,
      features: { callbacks: true, templateVersions: false, revealIp: false },
    });
    assert.deepEqual(plans.get('free'), DEFAULT_PLANS.free, 'there always is one');
  });

  it('is in force in another process without a restart, and the built-in plans are before it', async () => {
    const elsewhere = await connectDatabase(uri, logger);
    const plans = await openMirroredPlans(new PlanMirror(elsewhere), logger);
    plans.start();
    assert.deepEqual(plans.plan('business'), DEFAULT_PLANS.business);
    assert.equal(plans.has('acme'), false);
    for (const concurrentRenders of [3, 500, 2]) {
      await mirror.write(setOf({ acme: { ...acme, concurrentRenders } }, { acme: { slotsPerWorker: 3 } }));
      await eventually('it is in force', () => plans.plan('acme').concurrentRenders === concurrentRenders);
      assert.equal(plans.pool('acme')?.slotsPerWorker, 3);
    }
    await plans.stop();
    await elsewhere.close();
    const opened = await openMirroredPlans(mirror, logger);
    assert.equal(opened.plan('acme').concurrentRenders, 2, 'at once for who starts later');
  });

  it('stays in force while the database is unreachable', async () => {
    await mirror.write(setOf({ acme }));
    const log: string[] = [];
    const elsewhere = await connectDatabase(uri, logger);
    const loud = pino({ level: 'warn' }, { write: (line: string) => void log.push(line) });
    const plans = await openMirroredPlans(new PlanMirror(elsewhere), loud);
    await elsewhere.close();
    plans.start();
    await eventually('it is told', () => log.length > 0);
    assert.deepEqual(plans.plan('acme'), acme);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    assert.equal(log.length, 1, 'it is told once');
    await plans.stop();
  });
});
