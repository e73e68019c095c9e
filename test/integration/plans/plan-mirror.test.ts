import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
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
    assert.equal(await mirror.revisions(), '');
    await mirror.write(setOf({ 'acme.eu': acme }, { 'acme.large': { slotsPerWorker: 8 } }));
    const read = await mirror.read();
    assert.equal(read?.revisions, await mirror.revisions());
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
    assert.equal(await mirror.revisions(), `default:${first + 2}`);
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
    assert.equal((await mirror.own())?.revision, 3);
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
    assert.deepEqual(plans.plan('business'), DEFAULT_PLANS.business);
    assert.equal(plans.has('acme'), false);
    for (const concurrentRenders of [3, 500, 2]) {
      await mirror.write(setOf({ acme: { ...acme, concurrentRenders } }, { acme: { slotsPerWorker: 3 } }));
      await eventually(
        'it is in force',
        async () => (await plans.resolve('acme')).concurrentRenders === concurrentRenders,
      );
      assert.equal(plans.pool('acme')?.slotsPerWorker, 3);
    }
    await elsewhere.close();
    const opened = await openMirroredPlans(mirror, logger);
    assert.equal(opened.plan('acme').concurrentRenders, 2, 'at once for who starts later');
  });

  it('is in force also in a process that asks for no plan', async () => {
    const plans = await openMirroredPlans(mirror, logger, 100);
    plans.start();
    await mirror.write(setOf({ acme }));
    await eventually('it is in force', () => plans.has('acme'));
    await plans.stop();
  });

  it('has the plans and pools of all clusters, and of one name those that were edited last', async () => {
    const east = mirror;
    const west = new PlanMirror(await connectDatabase(uri, logger), 'west');
    const plans = (names: readonly string[]) => ({
      plans: new Map(names.map((name) => [name, 'a-namespace'])),
      pools: new Map<string, string>(),
    });
    const slots = async (name: string) => (await east.read())?.set.plans.get(name)?.concurrentRenders;
    const sized = (concurrentRenders: number) => ({ ...acme, concurrentRenders });
    await east.write(
      setOf({ business: sized(11), ours: acme }, { large: { slotsPerWorker: 1 } }),
      plans(['business', 'ours']),
    );
    // Its built-in plan business, which has no resource there, is not meant for the other cluster.
    await west.write(setOf({ theirs: acme }, { small: { slotsPerWorker: 2 } }), plans(['theirs']));
    const read = (await west.read())!.set;
    assert.deepEqual([...read.pools.keys()].sort(), ['large', 'small']);
    assert.ok(read.plans.has('ours') && read.plans.has('theirs'));
    assert.equal(await slots('business'), 11);
    await setTimeout(5);
    await west.write(setOf({ business: sized(12) }), plans(['business']));
    assert.equal(await slots('business'), 12);
    assert.equal((await east.read())!.set.plans.has('theirs'), false, 'each removes its own');
    await setTimeout(5);
    await east.write(setOf({ business: sized(11), ours: sized(1) }), plans(['business', 'ours']));
    assert.equal(await slots('business'), 12, 'what has not changed is not edited');
    await setTimeout(5);
    await east.write(setOf({ business: sized(13) }), plans(['business']));
    assert.equal(await slots('business'), 13);
    assert.deepEqual([(await east.own())?.revision, (await west.own())?.revision], [3, 2]);
    assert.equal(await east.revisions(), 'default:3 west:2');
  });

  it('is read at once for the name of a plan that is newer than what is held', async () => {
    const plans = await openMirroredPlans(mirror, logger);
    const before = plans.resolve('acme');
    assert.deepEqual(await before, DEFAULT_PLANS.free);
    for (let slots = 1; slots <= 20; slots += 1) {
      const name = `acme-${slots}`;
      const early = plans.resolve(name);
      await mirror.write(setOf({ [name]: { ...acme, concurrentRenders: slots } }));
      // The look of `early` may still be under way, from before the plan was there.
      assert.equal((await plans.resolve(name)).concurrentRenders, slots);
      await early;
    }
  });

  it('stays in force while the database is unreachable', async () => {
    await mirror.write(setOf({ acme }));
    const log: string[] = [];
    const elsewhere = await connectDatabase(uri, logger);
    const loud = pino({ level: 'warn' }, { write: (line: string) => void log.push(line) });
    const plans = await openMirroredPlans(new PlanMirror(elsewhere), loud, 300);
    await elsewhere.close();
    plans.start();
    await eventually('it is told', () => log.length > 0);
    assert.deepEqual(plans.plan('acme'), acme);
    await setTimeout(1500);
    assert.equal(log.length, 1, 'it is told once');
    await plans.stop();
  });
});
