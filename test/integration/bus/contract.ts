import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  Bus,
  EventTopic,
  JobClass,
  JobEvent,
  JobPointer,
  Subscription,
} from '../../../src/infra/bus/bus.ts';
import { DEFAULT_POOL } from '../../../src/tenants/plans/names.ts';
import { eventually, HUNG_MS } from '../../support/eventually.ts';
import { RecordingConsumer } from './recording-consumer.ts';

/** What a bus is, for the contract to be tried on. */
export interface BusUnderTest {
  /** A bus with nothing in it; the contract closes it. */
  open(): Promise<Bus>;
  /** What it takes to see that nothing more arrives, in milliseconds. */
  readonly quietMs: number;
  /** How many pools come into being while it runs. */
  readonly newPools: number;
}

export function pointer(jobId: string, jobClass: JobClass = 'interactive', version = 1): JobPointer {
  return { jobId, version, class: jobClass, pool: DEFAULT_POOL, routingKey: `account:${jobId}` };
}

/** Pointers of `count` jobs of a pool, of both classes; their ids begin with the pool's name. */
export function pointersOf(pool: string, count: number): JobPointer[] {
  return Array.from({ length: count }, (_, n) => ({
    ...pointer(`${pool}-${String(n).padStart(3, '0')}`, n % 3 === 0 ? 'bulk' : 'interactive'),
    pool,
  }));
}

/** Ids of the jobs, as `RecordingConsumer.ids` gives them. */
export function idsOf(pointers: readonly JobPointer[]): string[] {
  return pointers.map(({ jobId }) => jobId).sort();
}

/** The tests that every bus passes. */
export function describeBusContract(name: string, underTest: () => BusUnderTest): void {
  describe(`${name}: the contract of a bus`, () => {
    let bus: Bus;

    beforeEach(async () => {
      bus = await underTest().open();
    });

    afterEach(() => bus.close());

    it('delivers a pointer as it was published', async () => {
      const consumer = new RecordingConsumer();
      await bus.consumePointers(DEFAULT_POOL, consumer);
      await bus.publishPointer(pointer('job-ü', 'bulk', 7));
      await consumer.until(() => consumer.accepted.length === 1);
      assert.deepEqual(consumer.accepted, [pointer('job-ü', 'bulk', 7)]);
    });

    it('delivers nothing to a consumer that has stopped, and everything to its successor', async () => {
      const consumer = new RecordingConsumer();
      const subscription = await bus.consumePointers(DEFAULT_POOL, consumer);
      await bus.publishPointer(pointer('job-1'));
      await consumer.until(() => consumer.accepted.length === 1);
      await subscription.stop();
      for (const n of [2, 3]) await bus.publishPointer(pointer(`job-${n}`));
      await sleep(underTest().quietMs);
      assert.deepEqual(consumer.ids(), ['job-1']);
      assert.equal(bus.problem(), undefined);
      await bus.consumePointers(DEFAULT_POOL, consumer);
      assert.equal(bus.problem(), undefined, 'coming back is no problem');
      await consumer.until(() => consumer.accepted.length === 3);
      assert.deepEqual(consumer.ids(), ['job-1', 'job-2', 'job-3']);
    });

    it('delivers what was published before there was a consumer', async () => {
      for (const n of [1, 2, 3]) await bus.publishPointer(pointer(`job-${n}`));
      const consumer = new RecordingConsumer();
      await bus.consumePointers(DEFAULT_POOL, consumer);
      await consumer.until(() => consumer.accepted.length === 3);
      assert.deepEqual(consumer.ids(), ['job-1', 'job-2', 'job-3']);
    });

    // A message that a slow broker has not confirmed is sent again: the publisher cannot know that it arrived.
    it('delivers 500 pointers of both classes, and no others', async () => {
      const consumer = new RecordingConsumer();
      await bus.consumePointers(DEFAULT_POOL, consumer);
      const jobs = Array.from({ length: 500 }, (_, n) =>
        pointer(`job-${n}`, n % 3 === 0 ? 'bulk' : 'interactive'),
      );
      await Promise.all(jobs.map((job) => bus.publishPointer(job)));
      await consumer.until(() => consumer.ids().length >= 500);
      await sleep(underTest().quietMs);
      assert.deepEqual(consumer.ids(), idsOf(jobs));
    });

    it('keeps the order of pointers with the same routing key', async () => {
      const consumer = new RecordingConsumer();
      await bus.consumePointers(DEFAULT_POOL, consumer);
      const jobs = Array.from({ length: 50 }, (_, n) => ({ ...pointer(`job-${n}`), routingKey: 'one' }));
      await Promise.all(jobs.map((job) => bus.publishPointer(job)));
      await consumer.until(() => consumer.accepted.length === 50);
      assert.deepEqual(consumer.accepted, jobs);
    });

    it('accepts nothing without a reserved slot', async () => {
      const consumer = new RecordingConsumer({ interactive: 0 });
      await bus.consumePointers(DEFAULT_POOL, consumer);
      for (const n of [1, 2, 3]) await bus.publishPointer(pointer(`job-${n}`));
      await consumer.until(() => consumer.waiting('interactive') > 0);
      await sleep(underTest().quietMs);
      assert.equal(consumer.accepted.length, 0);

      consumer.free('interactive', 2);
      await consumer.until(() => consumer.accepted.length === 2);
      await sleep(underTest().quietMs);
      assert.equal(consumer.accepted.length, 2);

      consumer.free('interactive', 1);
      await consumer.until(() => consumer.accepted.length === 3);
      assert.deepEqual(consumer.ids(), ['job-1', 'job-2', 'job-3']);
    });

    it('reserves no slot when there is nothing to do', async () => {
      const consumer = new RecordingConsumer({ interactive: 0, bulk: 0 });
      await bus.consumePointers(DEFAULT_POOL, consumer);
      await sleep(underTest().quietMs);
      assert.equal(consumer.waiting('interactive') + consumer.waiting('bulk'), 0);
    });

    it('lets one class pass while the other waits for a slot', async () => {
      const consumer = new RecordingConsumer({ bulk: 0 });
      await bus.consumePointers(DEFAULT_POOL, consumer);
      await bus.publishPointer(pointer('bulk-job', 'bulk'));
      await consumer.until(() => consumer.waiting('bulk') > 0);
      await bus.publishPointer(pointer('quick-job', 'interactive'));
      await consumer.until(() => consumer.accepted.length === 1);
      assert.equal(consumer.accepted[0]?.jobId, 'quick-job');
      consumer.free('bulk', 1);
      await consumer.until(() => consumer.accepted.length === 2);
    });

    it('continues after a failed acceptance, and frees its slot', async () => {
      const consumer = new RecordingConsumer({ interactive: 1 });
      consumer.onAccept = ({ jobId }) => {
        if (jobId === 'bad') throw new Error('the database is away');
      };
      await bus.consumePointers(DEFAULT_POOL, consumer);
      await bus.publishPointer({ ...pointer('bad'), routingKey: 'one' });
      await bus.publishPointer({ ...pointer('good'), routingKey: 'one' });
      await consumer.until(() => consumer.accepted.length === 1);
      assert.equal(consumer.accepted[0]?.jobId, 'good');
    });

    it('stops: pointers being accepted are finished, no others are taken, no slot stays reserved', async () => {
      const consumer = new RecordingConsumer({ interactive: 1 });
      const started = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<void>();
      consumer.onAccept = () => {
        started.resolve();
        return gate.promise;
      };
      const subscription = await bus.consumePointers(DEFAULT_POOL, consumer);
      for (const n of [1, 2, 3]) await bus.publishPointer({ ...pointer(`job-${n}`), routingKey: 'one' });
      await started.promise;

      let stopped = false;
      const stopping = subscription.stop().then(() => {
        stopped = true;
      });
      await sleep(200);
      assert.equal(stopped, false, 'it waits for the acceptance');
      gate.resolve();
      await stopping;
      assert.deepEqual(consumer.ids(), ['job-1']);

      consumer.free('interactive', 5);
      await sleep(underTest().quietMs);
      assert.deepEqual(consumer.ids(), ['job-1']);
      assert.equal(consumer.waiting('interactive'), 0);
      assert.equal(consumer.slotsFree, 1000 + 5);
    });

    it('gives what one consumer left to the next', async () => {
      const first = new RecordingConsumer({ interactive: 1 });
      const subscription = await bus.consumePointers(DEFAULT_POOL, first);
      for (const n of [1, 2, 3]) await bus.publishPointer({ ...pointer(`job-${n}`), routingKey: 'one' });
      await first.until(() => first.accepted.length === 1 && first.waiting('interactive') > 0);
      await subscription.stop();

      const second = new RecordingConsumer();
      await bus.consumePointers(DEFAULT_POOL, second);
      await second.until(() => second.accepted.length === 2);
      await sleep(underTest().quietMs);
      assert.deepEqual(second.ids(), ['job-2', 'job-3']);
    });

    it('has one consumer at a time', async () => {
      await bus.consumePointers(DEFAULT_POOL, new RecordingConsumer());
      await assert.rejects(bus.consumePointers(DEFAULT_POOL, new RecordingConsumer()), /consumer already/);
    });

    it('keeps the pointers of one pool from the workers of another, and for its own', async () => {
      const [large, small] = [pointersOf('large', 60), pointersOf('small', 60)];
      const ofLarge = new RecordingConsumer();
      const subscription = await bus.consumePointers('large', ofLarge);
      await Promise.all([...large, ...small].map((job) => bus.publishPointer(job)));
      await ofLarge.until(() => ofLarge.ids().length >= 60);
      await sleep(underTest().quietMs);
      assert.deepEqual(ofLarge.ids(), idsOf(large));
      await subscription.stop();

      const ofSmall = new RecordingConsumer();
      await bus.consumePointers('small', ofSmall);
      await ofSmall.until(() => ofSmall.ids().length >= 60);
      await sleep(underTest().quietMs);
      assert.deepEqual(ofSmall.ids(), idsOf(small));
    });

    it('distinguishes pools whose names are similar', async () => {
      const names = ['a', 'a.interactive', 'a.bulk', 'a-b', 'a.b'];
      const consumer = new RecordingConsumer();
      await bus.consumePointers('a', consumer);
      await Promise.all(names.flatMap((name) => pointersOf(name, 6)).map((job) => bus.publishPointer(job)));
      await consumer.until(() => consumer.ids().length >= 6);
      await sleep(underTest().quietMs);
      assert.deepEqual(consumer.ids(), idsOf(pointersOf('a', 6)));
      assert.ok(consumer.accepted.every(({ pool }) => pool === 'a'));
    });

    it('takes new pools under load: none of their pointers is lost, and no other pool waits', async () => {
      const { newPools } = underTest();
      const served = new RecordingConsumer();
      const subscription = await bus.consumePointers('served', served);
      await bus.publishPointer({ ...pointer('first'), pool: 'served' });
      await served.until(() => served.accepted.length === 1);
      for (let n = 0; n < newPools; n += 1) {
        served.accepted.length = 0;
        // The pointers of the new pool are published before, between and after those of the other pool.
        const [before, between, after] = [0, 1, 2].map((k) => pointersOf(`new-${n}.${k}`, 4));
        const load = pointersOf('served', 20);
        const all = [before!, load.slice(0, 10), between!, load.slice(10), after!].flat();
        const published = Promise.all(
          all.map((job) => bus.publishPointer({ ...job, pool: job.pool.replace(/\.\d$/, '') })),
        );
        await served.until(() => served.ids().length >= 20);
        await published;
        assert.deepEqual(served.ids(), idsOf(load));
        served.free('interactive', 20);
        served.free('bulk', 20);
      }
      await subscription.stop();

      for (let n = 0; n < newPools; n += 1) {
        const late = new RecordingConsumer();
        const taking = await bus.consumePointers(`new-${n}`, late);
        await late.until(() => late.ids().length >= 12);
        await taking.stop();
        assert.deepEqual(late.ids(), idsOf([0, 1, 2].flatMap((k) => pointersOf(`new-${n}.${k}`, 4))));
      }
    });

    it('brings every event to every subscriber, until it stops', async () => {
      const [first, second] = [new Heard(), new Heard()];
      const subscription = await subscribe(bus, 'outcomes', first.hear);
      await subscribe(bus, 'outcomes', second.hear);
      await bus.publishEvent({ jobId: 'one', kind: 'retrying', to: bus.address });
      await bus.publishEvent({ jobId: 'one', kind: 'ended', to: bus.address });
      await second.until(2);
      assert.deepEqual(first.events, [
        { jobId: 'one', kind: 'retrying' },
        { jobId: 'one', kind: 'ended' },
      ]);
      assert.deepEqual(second.events, first.events);

      await subscription.stop();
      await bus.publishEvent({ jobId: 'two', kind: 'retrying', to: bus.address });
      await second.until(3);
      assert.equal(first.events.length, 2);
    });

    it('separates outcomes and cancels: listeners of one do not receive the other', async () => {
      const [outcomes, cancels] = [new Heard(), new Heard()];
      await subscribe(bus, 'outcomes', outcomes.hear);
      await subscribe(bus, 'cancels', cancels.hear);
      await bus.publishEvent({ jobId: 'one', kind: 'cancelled' });
      await bus.publishEvent({ jobId: 'one', kind: 'ended', to: bus.address });
      await outcomes.until(1);
      await cancels.until(1);
      assert.deepEqual(outcomes.events, [{ jobId: 'one', kind: 'ended' }]);
      assert.deepEqual(cancels.events, [{ jobId: 'one', kind: 'cancelled' }]);
    });

    it('survives a subscriber that throws', async () => {
      const heard = new Heard();
      await subscribe(bus, 'outcomes', () => {
        throw new Error('a fault of the subscriber');
      });
      await subscribe(bus, 'outcomes', heard.hear);
      await bus.publishEvent({ jobId: 'one', kind: 'ended', to: bus.address });
      await bus.publishEvent({ jobId: 'two', kind: 'ended', to: bus.address });
      await heard.until(2);
    });

    it('reports no problem while it works, and one when it is closed', async () => {
      const heard = new Heard();
      await subscribe(bus, 'outcomes', heard.hear);
      await bus.publishEvent({ jobId: 'one', kind: 'ended', to: bus.address });
      await heard.until(1);
      assert.equal(bus.problem(), undefined);
      await bus.close();
      assert.match(bus.problem() ?? '', /closed/);
      await assert.rejects(bus.publishPointer(pointer('late')), /closed/);
    });
  });
}

/** Subscribes, and waits until events arrive: on a busy machine the bus itself does so for too short a time. */
export async function subscribe(
  bus: Bus,
  topic: EventTopic,
  handler: (event: JobEvent) => void,
): Promise<Subscription> {
  const subscription = await bus.subscribeEvents(topic, handler);
  await problemGone(bus);
  return subscription;
}

/** Resolves when the bus names no problem any more. */
export function problemGone(bus: Bus): Promise<void> {
  return eventually('the bus names no problem', () => bus.problem() === undefined);
}

/** Collects events. */
export class Heard {
  readonly events: JobEvent[] = [];

  readonly hear = ({ jobId, kind }: JobEvent): void => {
    this.events.push({ jobId, kind });
  };

  async until(count: number, limitMs = HUNG_MS): Promise<void> {
    await eventually(`${count} events arrive`, () => this.events.length >= count, limitMs);
  }
}
