import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mongoose, { type Connection } from 'mongoose';
import { type ChaosAccount, MONTHLY_RENDERS, openAccount } from '../chaos/accounts.ts';
import { usageFaults } from '../chaos/checks.ts';
import { seeded } from '../chaos/random.ts';
import { eventually } from '../support/eventually.ts';
import { assertNothingHeld } from '../support/held.ts';
import { readPdf } from '../support/pdf.ts';
import type { Answer } from '../support/send.ts';
import { openKafkaService, type TestService } from '../support/service.ts';

const SEED = Number(process.env.SEED ?? 1);
const ITEMS = 500;
const KILLS: readonly string[] = [
  ...Array(3).fill('dispatcher'),
  ...Array(4).fill('worker'),
  ...Array(3).fill('api'),
];
const PAUSE_MS = { least: 300, most: 2500 };
const DOWN_MS = 500;
/** Items that were killed in every one of their attempts have failed, as they should. More than that cannot be chance. */
const MAX_KILLED = ITEMS / 100;
const PLAN = {
  monthlyRenders: MONTHLY_RENDERS,
  requestsPerMinute: 1_000_000,
  concurrentRenders: 6,
  maxWaitingJobs: 5000,
  maxBatchItems: ITEMS,
};

interface ItemRecord {
  readonly itemId: string;
  readonly status: string;
  readonly error: { readonly code: string } | null;
}

describe(`a batch of ${ITEMS} while dispatcher, worker and API are killed ten times (SEED=${SEED})`, function () {
  this.timeout(300_000);
  let service: TestService;
  let folder: string;
  let account: ChaosAccount;
  let connection: Connection;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-killed-batch-'));
    const plans = join(folder, 'plans.json');
    await writeFile(plans, JSON.stringify({ plans: { free: PLAN } }));
    service = await openKafkaService({ PLATEN_PLANS_FILE: plans });
    account = await openAccount('batches', [service.url]);
    connection = await mongoose.createConnection(service.mongodbUri).asPromise();
  });
  after(async () => {
    await connection?.close();
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Asks until there is an answer: the API may be down. */
  async function call(method: string, path: string, body?: object, key?: string): Promise<Answer> {
    for (;;) {
      const headers: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key };
      const answer = await account.callers[0]!.call(method, path, body, headers).catch(() => undefined);
      if (answer !== undefined && answer.status < 500 && answer.status !== 409) return answer;
      await sleep(100);
    }
  }

  /** Kills everybody whose turn it is, in an order that the seed decides. Resolves when all are up again. */
  async function killAll(): Promise<void> {
    const random = seeded(SEED);
    const victims = KILLS.map((victim) => ({ victim, at: random() })).sort((a, b) => a.at - b.at);
    for (const { victim } of victims) {
      await sleep(PAUSE_MS.least + random() * (PAUSE_MS.most - PAUSE_MS.least));
      assert.equal(await service.roles.get(victim)!.end('SIGKILL'), 'SIGKILL', `${victim} was up`);
      await sleep(random() * DOWN_MS);
      await service.restart(victim);
    }
  }

  it('completes; each item has its PDF, and is charged for, once', async () => {
    const items = Array.from({ length: ITEMS }, (_, i) => ({
      id: `item-${i}`,
      ...(i % 3 === 0
        ? { templateId: account.templateId, data: { order: `item-${i}` } }
        : { html: `<h1>Order item-${i}</h1>` }),
      options: { format: 'A5', delayMs: i % 5 === 0 ? 200 : 0 },
    }));
    const key = randomUUID();
    const placed = call('POST', '/v1/pdf/batch', { items }, key);
    // Perhaps while it is being let in.
    await sleep(seeded(SEED)() * 300);
    await service.roles.get('api')!.end('SIGKILL');
    await service.restart('api');
    const accepted = await placed;
    assert.equal(accepted.status, 202, Buffer.from(accepted.bytes).toString().slice(0, 300));
    const path = `/v1/pdf/batch/${accepted.json.jobId}`;

    await killAll();
    const isOver = async () => (await call('GET', `${path}?limit=0`)).json.finishedAt !== null;
    await eventually('the batch has ended', isOver, 150_000);

    const batch = (await call('GET', path)).json;
    const failed = (batch.items as ItemRecord[]).filter(({ status }) => status !== 'completed');
    for (const { itemId, error } of failed) assert.equal(error?.code, 'WORKER_LOST', itemId);
    assert.ok(failed.length <= MAX_KILLED, `${failed.length} have failed`);
    assert.equal(batch.status, 'completed');
    assert.deepEqual(
      [batch.progress.completed, batch.progress.failed],
      [ITEMS - failed.length, failed.length],
    );
    const again = await call('POST', '/v1/pdf/batch', { items }, key);
    assert.equal(again.json.jobId, batch.jobId);
    assert.equal((await call('GET', '/v1/pdf/batch')).json.total, 1);

    await assertNothingHeld(connection);
    const jobs = await connection.collection('job_history').find().toArray();
    const names = jobs.map(({ item }) => item?.id as string);
    assert.deepEqual([...names].sort(), items.map(({ id }) => id).sort(), 'one job for each item');
    await assertPdfs(path, batch.items);
    const faults = () => usageFaults(account, ITEMS, failed.length, 0);
    await eventually('usage is right', async () => (await faults()).length === 0, 20_000).catch(async () => {
      assert.deepEqual(await faults(), []);
    });
  });

  /** Every completed item's PDF is its own. */
  async function assertPdfs(path: string, items: readonly ItemRecord[]): Promise<void> {
    const left = items.filter(({ status }) => status === 'completed');
    const reader = async () => {
      for (let item = left.pop(); item !== undefined; item = left.pop()) {
        const answer = await call('GET', `${path}/${item.itemId}`);
        assert.equal(answer.status, 200, item.itemId);
        assert.match((await readPdf(answer.bytes)).text, new RegExp(`Order ${item.itemId}\\b`));
      }
    };
    await Promise.all(Array.from({ length: 4 }, reader));
  }
});
