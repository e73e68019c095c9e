import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import mongoose, { type Connection } from 'mongoose';
import { type ChaosAccount, MONTHLY_RENDERS, openAccount } from '../chaos/accounts.ts';
import { usageErrors } from '../chaos/checks.ts';
import { eventually } from '../support/eventually.ts';
import { assertNothingHeld } from '../support/held.ts';
import { type PlansFile, writePlansFile } from '../support/plans-file.ts';
import type { Reply } from '../support/send.ts';
import { openKafkaService, SHORT_LEASE, type TestService } from '../support/service.ts';

const ROWS = Number(process.env.ROWS ?? 2000);
const KILLS = Number(process.env.KILLS ?? 5);
/** Rows of each thousand that are no rows of the file's columns. */
const WRONG = 10;
/** Items that were killed in every one of their attempts have failed, as they should. */
const MAX_KILLED = ROWS / 100;
const PLAN = {
  monthlyRenders: MONTHLY_RENDERS,
  requestsPerMinute: 1_000_000,
  concurrentRenders: 6,
  maxWaitingJobs: 5000,
  maxBatchItems: ROWS,
  features: { callbacks: true },
};

const isWrong = (row: number) => row % (1000 / WRONG) === 50;

/** By the number of the row, from 1. */
function fileOf(rows: number): string {
  const lines = Array.from({ length: rows }, (_, i) =>
    isWrong(i + 1) ? `r-${i + 1}` : `r-${i + 1},"order ${i + 1}"`,
  );
  return `id,order\n${lines.join('\n')}\n`;
}

describe(`a batch of ${ROWS} rows of a fetched file while dispatcher and worker are killed ${KILLS} times each`, function () {
  this.timeout(1_500_000);
  let service: TestService;
  let plans: PlansFile;
  let account: ChaosAccount;
  let connection: Connection;
  let server: Server;

  before(async () => {
    plans = await writePlansFile({ free: PLAN });
    server = createServer((_, response) => void response.end(fileOf(ROWS))).listen(0, '127.0.0.1');
    await once(server, 'listening');
    service = await openKafkaService({ ...SHORT_LEASE, PLATEN_PLANS_FILE: plans.path });
    account = await openAccount('sources', [service.url]);
    connection = await mongoose.createConnection(service.mongodbUri).asPromise();
  });
  after(async () => {
    server?.close();
    await connection?.close();
    await service?.stop();
    await plans?.remove();
  });

  async function call(method: string, path: string, body?: object, key?: string): Promise<Reply> {
    const headers: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key };
    return account.callers[0]!.call(method, path, body, headers);
  }

  /** Kills both each time that another part of the batch has ended: so it is under way at each kill. */
  async function killAll(path: string): Promise<void> {
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const from = (kill * ROWS) / (KILLS + 2);
      await eventually(
        `${from} rows have ended, before kill ${kill}`,
        async () => {
          const { progress } = (await call('GET', `${path}?limit=0`)).json;
          return progress.completed + progress.failed >= from;
        },
        600_000,
      );
      for (const victim of ['dispatcher', 'worker']) {
        assert.equal(await service.roles.get(victim)!.end('SIGKILL'), 'SIGKILL', `${victim} was up`);
      }
      await sleep(100);
      await Promise.all(['dispatcher', 'worker'].map((victim) => service.restart(victim)));
    }
  }

  it('renders and charges each row once, and the wrong ones have failed with their reasons', async () => {
    const { port } = server.address() as AddressInfo;
    const source = {
      url: `http://127.0.0.1:${port}/rows.csv`,
      format: 'csv',
      templateId: account.templateId,
    };
    const accepted = await call('POST', '/v1/pdf/batch', { source, proof: 10 }, randomUUID());
    assert.equal(accepted.status, 202, Buffer.from(accepted.bytes).toString().slice(0, 300));
    const path = `/v1/pdf/batch/${accepted.json.jobId}`;
    const state = async () => (await call('GET', `${path}?limit=0`)).json;
    await eventually('the proof is there', async () => (await state()).progress.completed === 10, 120_000);
    assert.equal((await state()).source.state, 'awaiting_release');
    await call('POST', `${path}/release`);
    await killAll(path);
    await eventually('the batch has ended', async () => (await state()).finishedAt !== null, 900_000);

    const batch = await state();
    const wrong = Array.from({ length: ROWS }, (_, i) => i + 1).filter(isWrong);
    const items: { itemId: string; status: string; error: { code: string; message: string } | null }[] = [];
    for (let offset = 0; offset < ROWS; offset += 1000)
      items.push(...(await call('GET', `${path}?offset=${offset}`)).json.items);
    assert.equal(items.length, ROWS);
    for (const row of wrong)
      assert.deepEqual(items[row - 1]!.error, {
        code: 'VALIDATION',
        message: `Row ${row}: its number of fields is 1, that of the first row 2.`,
      });
    const killed = items.filter(({ error }) => error !== null && error.code !== 'VALIDATION');
    for (const item of killed) assert.equal(item.error?.code, 'WORKER_LOST', JSON.stringify(item));
    assert.ok(killed.length <= MAX_KILLED, `${killed.length} were killed in each attempt`);
    assert.equal(batch.status, 'completed');
    assert.equal(batch.progress.completed, ROWS - wrong.length - killed.length);

    await assertNothingHeld(connection);
    const jobs = await connection
      .collection('job_history')
      .find({}, { projection: { item: 1 } })
      .toArray();
    const names = jobs.map(({ item }) => item?.id as string);
    const good = items.filter(({ error }) => error?.code !== 'VALIDATION').map(({ itemId }) => itemId);
    assert.deepEqual([...names].sort(), good.sort(), 'one job for each row');
    const errors = () => usageErrors(account, ROWS - wrong.length, killed.length, 0);
    await eventually('usage is right', async () => (await errors()).length === 0, 20_000).catch(async () => {
      assert.deepEqual(await errors(), []);
    });
    for (const name of ['source_files', 'source_parts', 'batch_readings'])
      assert.equal(await connection.collection(name).countDocuments(), 0, name);
  });
});
