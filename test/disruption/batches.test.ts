import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mongoose, { type Connection } from 'mongoose';
import { type ChaosAccount, MONTHLY_RENDERS, openAccount } from '../chaos/accounts.ts';
import { usageErrors } from '../chaos/checks.ts';
import { seeded } from '../chaos/random.ts';
import { Receiver } from '../integration/callbacks/support.ts';
import { CERTIFICATE } from '../integration/egress/support/certificate.ts';
import { eventually } from '../support/eventually.ts';
import { assertNothingHeld } from '../support/held.ts';
import { readPdf } from '../support/pdf.ts';
import type { Reply } from '../support/send.ts';
import { openKafkaService, SHORT_LEASE, type TestService } from '../support/service.ts';

const SEED = Number(process.env.SEED ?? 1);
/** `make soak` has 500, and 10 kills. */
const ITEMS = Number(process.env.ITEMS ?? 200);
/** How often each process is killed. */
const KILLS = Number(process.env.KILLS ?? 3);
/**
 * The latest moment of each kill, in milliseconds after the worker has begun to work. A killed worker works again after
 * six seconds at the earliest, when Kafka gives up its predecessor; the others are killed meanwhile as well.
 */
const KILLED_WITHIN_MS = { dispatcher: 5000, worker: 1500, api: 5000 };
const DOWN_MS = 500;
/** Items that were killed in every one of their attempts have failed, as they should. More than that cannot be chance. */
const MAX_KILLED = ITEMS / 100;
const PLAN = {
  monthlyRenders: MONTHLY_RENDERS,
  requestsPerMinute: 1_000_000,
  concurrentRenders: 6,
  maxWaitingJobs: 5000,
  maxBatchItems: ITEMS,
  features: { callbacks: true },
};

interface ItemRecord {
  readonly itemId: string;
  readonly status: string;
  readonly error: { readonly code: string } | null;
}

describe(`a batch of ${ITEMS} while dispatcher, worker and API are killed ${KILLS} times each (SEED=${SEED})`, function () {
  // Two and a half minutes on a machine that has little else to do.
  this.timeout(600_000);
  let service: TestService;
  let folder: string;
  let account: ChaosAccount;
  let connection: Connection;
  let receiver: Receiver;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-killed-batch-'));
    const plans = join(folder, 'plans.json');
    await writeFile(plans, JSON.stringify({ plans: { free: PLAN } }));
    const authority = join(folder, 'ca.pem');
    await writeFile(authority, CERTIFICATE);
    receiver = await Receiver.start();
    service = await openKafkaService({
      ...SHORT_LEASE,
      PLATEN_PLANS_FILE: plans,
      NODE_EXTRA_CA_CERTS: authority,
      PLATEN_PUBLIC_URL: 'https://platen.test',
    });
    account = await openAccount('batches', [service.url]);
    connection = await mongoose.createConnection(service.mongodbUri).asPromise();
  });
  after(async () => {
    await connection?.close();
    await service?.stop();
    await receiver?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Repeats the request until there is a response: the API may be down. */
  async function call(method: string, path: string, body?: object, key?: string): Promise<Reply> {
    for (;;) {
      const headers: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key };
      const response = await account.callers[0]!.call(method, path, body, headers).catch(() => undefined);
      if (response !== undefined && response.status < 500 && response.status !== 409) return response;
      await sleep(100);
    }
  }

  /**
   * Kills every process repeatedly, at moments that the seed decides: each time when the worker has begun to render, so
   * the batch is under way at each kill. Resolves when all are up again.
   */
  async function killAll(): Promise<void> {
    const random = seeded(SEED);
    for (let round = 1; round <= KILLS; round += 1) {
      const since = new Date();
      const rendering = { state: 'processing', startedAt: { $gt: since } };
      const renders = async () => (await connection.collection('jobs').findOne(rendering)) !== null;
      await eventually(`the worker renders, before kill ${round}`, renders);
      const deaths = Object.entries(KILLED_WITHIN_MS).map(([victim, withinMs]) =>
        killOnce(victim, random() * withinMs, random() * DOWN_MS),
      );
      await Promise.all(deaths);
    }
  }

  async function killOnce(victim: string, inMs: number, downMs: number): Promise<void> {
    await sleep(inMs);
    assert.equal(await service.roles.get(victim)!.end('SIGKILL'), 'SIGKILL', `${victim} was up`);
    await sleep(downMs);
    await service.restart(victim);
  }

  /**
   * Kills the dispatcher while it waits for the response to the batch's callback. The receiver responds to the next
   * one.
   */
  async function killAtCallback(): Promise<void> {
    const { respond } = receiver;
    receiver.respond = () => {};
    await eventually('the callback has come', () => receiver.received.length > 0, 300_000);
    await service.roles.get('dispatcher')!.end('SIGKILL');
    receiver.respond = respond;
    await service.restart('dispatcher');
  }

  /** The callback has come again, to an end, and under one id all the times that it came. */
  async function assertOneCallback(batchId: string): Promise<void> {
    const deliveries = () => connection.collection('callback_deliveries').find().toArray();
    const isDelivered = async () => (await deliveries()).every(({ state }) => state === 'delivered');
    await eventually('the callback is delivered', isDelivered);
    const [delivery, ...others] = (await deliveries()) as unknown as { _id: string }[];
    assert.deepEqual(others, []);
    const { received } = receiver;
    assert.ok(received.length >= 2, 'the one whose sender was killed, and the one with a response');
    const ids = new Set(received.map(({ headers }) => headers['x-service-delivery-id']));
    assert.deepEqual([...ids], [delivery!._id]);
    for (const { body } of received) {
      const { event, jobId, status } = JSON.parse(body);
      assert.deepEqual([event, jobId, status], ['batch.completed', batchId, 'completed']);
    }
  }

  it('completes: each item has its PDF, and is charged for, once; and one callback is sent', async () => {
    const items = Array.from({ length: ITEMS }, (_, i) => ({
      id: `item-${i}`,
      ...(i % 3 === 0
        ? { templateId: account.templateId, data: { order: `item-${i}` } }
        : { html: `<h1>Order item-${i}</h1>` }),
      options: { format: 'A5', delayMs: i % 5 === 0 ? 200 : 0 },
    }));
    const key = randomUUID();
    const submission = { items, webhookUrl: receiver.url() };
    const placed = call('POST', '/v1/pdf/batch', submission, key);
    // Perhaps while it is being let in.
    await sleep(seeded(SEED)() * 300);
    await service.roles.get('api')!.end('SIGKILL');
    await service.restart('api');
    const accepted = await placed;
    assert.equal(accepted.status, 202, Buffer.from(accepted.bytes).toString().slice(0, 300));
    const path = `/v1/pdf/batch/${accepted.json.jobId}`;

    await killAll();
    const calledBack = killAtCallback();
    // Awaited below, unless something else fails before.
    calledBack.catch(() => undefined);
    const isOver = async () => typeof (await call('GET', `${path}?limit=0`)).json.finishedAt === 'string';
    await eventually('the batch has ended', isOver, 300_000);
    await calledBack;

    const batch = (await call('GET', path)).json;
    const failed = (batch.items as ItemRecord[]).filter(({ status }) => status !== 'completed');
    for (const item of failed) assert.equal(item.error?.code, 'WORKER_LOST', JSON.stringify(item));
    assert.ok(failed.length <= MAX_KILLED, `${failed.length} have failed`);
    assert.equal(batch.status, 'completed');
    assert.deepEqual(
      [batch.progress.completed, batch.progress.failed],
      [ITEMS - failed.length, failed.length],
    );
    const again = await call('POST', '/v1/pdf/batch', submission, key);
    assert.equal(again.json.jobId, batch.jobId);
    assert.equal((await call('GET', '/v1/pdf/batch')).json.total, 1);

    await assertNothingHeld(connection);
    const jobs = await connection.collection('job_history').find().toArray();
    const names = jobs.map(({ item }) => item?.id as string);
    assert.deepEqual([...names].sort(), items.map(({ id }) => id).sort(), 'one job for each item');
    await assertPdfs(path, batch.items);
    await assertOneCallback(batch.jobId);
    const errors = () => usageErrors(account, ITEMS, failed.length, 0);
    await eventually('usage is right', async () => (await errors()).length === 0, 20_000).catch(async () => {
      assert.deepEqual(await errors(), []);
    });
  });

  /** Every completed item's PDF is its own. */
  async function assertPdfs(path: string, items: readonly ItemRecord[]): Promise<void> {
    const left = items.filter(({ status }) => status === 'completed');
    const reader = async () => {
      for (let item = left.pop(); item !== undefined; item = left.pop()) {
        const response = await call('GET', `${path}/${item.itemId}`);
        assert.equal(response.status, 200, item.itemId);
        assert.match((await readPdf(response.bytes)).text, new RegExp(`Order ${item.itemId}\\b`));
      }
    };
    await Promise.all(Array.from({ length: 4 }, reader));
  }
});
