import assert from 'node:assert/strict';
import { setImmediate as immediate } from 'node:timers/promises';
import { createInProcessBus } from '../../../src/infra/bus/in-process.ts';
import { DEFAULT_POOL } from '../../../src/tenants/plans/names.ts';
import { describeBusContract, idsOf, pointer, pointersOf } from './contract.ts';
import { RecordingConsumer } from './recording-consumer.ts';

describeBusContract('in-process', () => ({
  open: async () => createInProcessBus(),
  quietMs: 20,
  newPools: 100,
}));

describe('The in-process bus', () => {
  it('holds one pointer for each job of a pool without a worker, however often the sweep publishes it', async () => {
    const bus = createInProcessBus();
    const jobs = pointersOf('unserved', 50);
    for (let sweep = 0; sweep < 200; sweep += 1) for (const job of jobs) await bus.publishPointer(job);
    const consumer = new RecordingConsumer();
    await bus.consumePointers('unserved', consumer);
    await consumer.until(() => consumer.accepted.length >= 50);
    for (let n = 0; n < 100; n += 1) await immediate();
    assert.equal(consumer.accepted.length, 50);
    assert.deepEqual(consumer.ids(), idsOf(jobs));
    await bus.close();
  });

  it('keeps the newest version of a waiting pointer, in the same position', async () => {
    const bus = createInProcessBus();
    for (const [jobId, version] of [
      ['one', 1],
      ['two', 1],
      ['one', 3],
      ['one', 2],
    ] as const) {
      await bus.publishPointer(pointer(jobId, 'interactive', version));
    }
    const consumer = new RecordingConsumer();
    await bus.consumePointers(DEFAULT_POOL, consumer);
    await consumer.until(() => consumer.accepted.length >= 2);
    assert.deepEqual(
      consumer.accepted.map(({ jobId, version }) => [jobId, version]),
      [
        ['one', 3],
        ['two', 1],
      ],
    );
    await bus.close();
  });

  it('gives each pool its own pointers, though consumers come and go while both are published, 100 times', async () => {
    for (let round = 0; round < 100; round += 1) {
      const bus = createInProcessBus();
      const pools = ['one', 'two'] as const;
      const consumers = { one: new RecordingConsumer(), two: new RecordingConsumer() };
      const jobs = pools.flatMap((pool) => pointersOf(pool, 30));
      const publishing = (async () => {
        for (const [n, job] of jobs
          .toSorted((a, b) => a.jobId.slice(-3).localeCompare(b.jobId.slice(-3)))
          .entries()) {
          await bus.publishPointer(job);
          if (n % 4 === round % 4) await immediate();
        }
      })();
      for (let visit = 0; visit < 6; visit += 1) {
        const pool = pools[visit % 2]!;
        const subscription = await bus.consumePointers(pool, consumers[pool]);
        for (let n = 0; n < round % 7; n += 1) await immediate();
        await subscription.stop();
      }
      await publishing;
      for (const pool of pools) {
        const subscription = await bus.consumePointers(pool, consumers[pool]);
        while (consumers[pool].accepted.length < 30) await immediate();
        await subscription.stop();
        assert.deepEqual(consumers[pool].ids(), idsOf(pointersOf(pool, 30)));
        assert.equal(consumers[pool].accepted.length, 30);
      }
      await bus.close();
    }
  });
});
