import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Delivery } from '../../../src/work/callbacks/delivery.ts';
import { newDelivery } from '../../../src/work/callbacks/delivery.ts';
import { type Domain, openDomain } from '../../support/domain.ts';
import { startMongo } from '../../support/mongo.ts';
import { Receiver } from './support.ts';

const PROCESS = fileURLToPath(new URL('sender-process.ts', import.meta.url));
/** Longer than a delivery is left to a silent sender. */
const AHEAD_MS = 31_000;

describe('A dispatcher that is killed while it sends a callback', () => {
  let domain: Domain;
  let uri: string;
  let receiver: Receiver;
  let running: ChildProcess | undefined;

  before(async () => {
    ({ uri } = await startMongo());
    domain = await openDomain({ uri });
  });
  after(() => domain.close());
  beforeEach(async () => {
    receiver = await Receiver.start();
  });
  afterEach(async () => {
    running?.kill('SIGKILL');
    await receiver.close();
    await domain.connection.collection('callback_deliveries').deleteMany({});
  });

  /** Runs a dispatcher until it ends. @returns what ended it, if it was killed. */
  async function dispatcher(...args: string[]): Promise<NodeJS.Signals | null> {
    running = spawn(process.execPath, [PROCESS, uri, ...args], { stdio: ['ignore', 'inherit', 'inherit'] });
    const [code, signal] = await once(running, 'exit');
    assert.ok(signal !== null || code === 0, `it ended with ${code}`);
    return signal;
  }

  async function submissionOfBatch(): Promise<Delivery> {
    const jobId = randomUUID();
    const now = domain.clock.now();
    const path = `/v1/pdf/batch/${jobId}`;
    const reported = { event: 'batch.completed', jobId, status: 'completed', statusUrl: path } as const;
    const payload = { ...reported, zipUrl: `${path}/zip`, completedAt: now.toISOString() };
    const delivery = newDelivery({ accountId: randomUUID() }, receiver.url(), payload, now);
    await domain.callbacks.deliveries.add([delivery]);
    return delivery;
  }

  /** The next dispatcher finishes what the first has left: the receiver has it so often, under one id. */
  async function assertSent(delivery: Delivery, times: number): Promise<void> {
    assert.equal(await dispatcher('0'), null);
    const early = receiver.received.length;
    assert.equal(await dispatcher(String(AHEAD_MS)), null);
    assert.equal(receiver.received.length, times);
    assert.ok(early <= times);
    const ids = receiver.received.map(({ headers }) => headers['x-service-delivery-id']);
    assert.deepEqual([...new Set(ids)], [delivery._id]);
    const { state, dueAt } = (await domain.callbacks.deliveries.find(delivery._id))!;
    assert.deepEqual([state, dueAt], ['delivered', undefined]);
    // The process that scheduled it may run again as well, after a kill of its own.
    await domain.callbacks.deliveries.add([{ ...delivery, createdAt: new Date() }]);
    assert.equal(await dispatcher(String(2 * AHEAD_MS)), null);
    assert.equal(receiver.received.length, times);
  }

  for (const [point, when, operation, times] of [
    ['before it has claimed it', 'before', 'claim', 1],
    ['after it has claimed it', 'after', 'claim', 1],
    ['when it has had its response', 'before', 'noteCallback', 2],
    ['when it has noted the outcome at the batch', 'after', 'noteCallback', 2],
    ['before it has noted the outcome', 'before', 'finishAttempt', 2],
    ['after it has noted the outcome', 'after', 'finishAttempt', 1],
  ] as const) {
    it(`leaves it to the next dispatcher: ${point}`, async () => {
      const delivery = await submissionOfBatch();
      assert.equal(await dispatcher('0', when, operation), 'SIGKILL');
      await assertSent(delivery, times);
    });
  }

  it('leaves it to the next dispatcher: when the receiver has it and has not responded', async () => {
    const delivery = await submissionOfBatch();
    const response = receiver.respond;
    receiver.respond = () => running!.kill('SIGKILL');
    assert.equal(await dispatcher('0'), 'SIGKILL');
    receiver.respond = response;
    await assertSent(delivery, 2);
  });
});
