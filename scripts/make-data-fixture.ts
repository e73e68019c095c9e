/**
 * Makes a data folder as a killed standalone service leaves it, for the tests that start on data of an older version.
 *
 *   node scripts/make-data-fixture.ts CHECKOUT test/fixtures/data-layout-N.tar.gz
 *
 * CHECKOUT is a built Platen of the version whose data is wanted. What the folder holds, with ids and keys, is written
 * beside the archive as `.json`. Retention is lengthened in the database, or nothing would be left after a few days.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mongoose from 'mongoose';
import { type Reply, send } from '../test/support/send.ts';

const HOUR_MS = 3_600_000;
const FAR_OFF = new Date('2999-01-01T00:00:00Z');
/** A thousand years. */
const LONG_RETENTION_HOURS = 24 * 366 * 1000;
const PORT = '18099';
const URL = `http://127.0.0.1:${PORT}`;
const POLL_MS = 100;
/** Renders this slow are still under way when the process is killed. */
const SLOW = { delayMs: 10_000 };
const BOOTSTRAP = {
  PLATEN_BOOTSTRAP_EMAIL: 'operator@example.com',
  PLATEN_BOOTSTRAP_PASSWORD: 'operator password 1',
  PLATEN_BOOTSTRAP_PLAN: 'professional',
  PLATEN_BOOTSTRAP_API_KEY: `sk_live_${'fixture-operator-key'.padEnd(40, '0')}`,
};
const FREE = { email: 'free@example.com', password: 'correct horse battery' };

const [checkout = '', archive = ''] = process.argv.slice(2);
assert.ok(
  existsSync(join(checkout, 'dist/main.js')) && archive.endsWith('.tar.gz'),
  'see the head of this file',
);
const scratch = mkdtempSync(join(tmpdir(), 'platen-fixture-'));
const dataDir = join(scratch, 'data');

/** @returns ends it as the signal does, and waits until its database has written everything. */
async function start(environment: Record<string, string>) {
  const child = spawn(join(checkout, 'node_modules/.bin/node'), ['dist/main.js', 'standalone'], {
    cwd: checkout,
    env: {
      ...process.env,
      ...{ PORT, PLATEN_DATA_DIR: dataDir, PLATEN_LOG_LEVEL: 'warn', PLATEN_WORKER_SLOTS: '2' },
      ...{ PLATEN_RETRY_BASE_MS: '600000', ...environment },
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  process.once('exit', () => void child.kill('SIGKILL'));
  while ((await fetch(`${URL}/readyz`).catch(() => undefined))?.status !== 200) await sleep(POLL_MS);
  return async (signal: NodeJS.Signals) => {
    const database = Number(readFileSync(join(dataDir, 'mongo-java-server/database.mv.pid'), 'utf8'));
    child.kill(signal);
    while (existsSync(`/proc/${database}`) || child.exitCode === child.signalCode) await sleep(POLL_MS);
  };
}

async function call(
  method: string,
  path: string,
  auth: string,
  body?: unknown,
  headers = {},
): Promise<Reply> {
  const credentials: Record<string, string> = auth.startsWith('sk_')
    ? { 'x-api-key': auth }
    : { authorization: `Bearer ${auth}` };
  const response = await send(URL, method, path, body, { ...credentials, ...headers });
  assert.ok(response.status < 300, `${method} ${path}: ${response.status} ${Buffer.from(response.bytes)}`);
  return response;
}

const submit = async (key: string, body: Record<string, unknown>, headers = {}): Promise<string> =>
  (await call('POST', '/v1/pdf', key, { executionMode: 'async', ...body }, headers)).json.jobId;
const html = (text: string, options = {}) => ({ html: `<p>${text}</p>`, options });
async function until(what: string, holds: () => Promise<boolean>) {
  for (const deadline = Date.now() + 20_000; !(await holds()); await sleep(POLL_MS)) {
    assert.ok(Date.now() < deadline, `not after 20 s: ${what}`);
  }
}

const database = () =>
  mongoose.createConnection(readFileSync(join(dataDir, 'database-uri'), 'utf8').trim()).asPromise();

async function fill() {
  const key = BOOTSTRAP.PLATEN_BOOTSTRAP_API_KEY;
  const { accessToken: token } = (
    await send(URL, 'POST', '/auth/login', {
      email: BOOTSTRAP.PLATEN_BOOTSTRAP_EMAIL,
      password: BOOTSTRAP.PLATEN_BOOTSTRAP_PASSWORD,
    })
  ).json;
  const { accessToken: freeToken } = (await send(URL, 'POST', '/auth/register', FREE)).json;
  const shop = { name: 'shop', mode: 'live', allowedIps: [] };
  const free = (await call('POST', '/user/api-keys', freeToken, shop)).json;
  const test = (await call('POST', '/user/api-keys', token, { ...shop, name: 'trial', mode: 'test' })).json;

  const draft = { name: 'letter', content: '<p>Dear {{ name }}</p>', sampleData: '{"name": "Ada"}' };
  const first = (await call('POST', '/user/templates', token, draft)).json;
  const changed = { content: '<p>Hello {{ name }}</p>' };
  const second = (await call('PATCH', `/user/templates/${first.id}`, token, changed)).json;
  const template = { id: first.id, versionIds: [first.versionId, second.versionId] };

  const sync = async (auth: string, body: object, headers = {}) =>
    (await call('POST', '/v1/pdf', auth, body, headers)).headers.get('x-service-job-id');
  const jobs = {
    completedSync: await sync(key, html('completed sync'), { 'idempotency-key': 'sync-1' }),
    completedAsync: await submit(key, html('completed async'), { 'idempotency-key': 'async-1' }),
    completedTemplate: await sync(key, { templateId: template.id, data: { name: 'Grace' } }),
    completedTest: await sync(test.apiKey, html('completed test')),
    completedFree: await sync(free.apiKey, html('completed free')),
    failed: await submit(key, html('failed', { waitForSelector: '#never', timeoutMs: 1000 })),
  };
  const connection = await database();
  const live = connection.collection<{ _id: string; state: string; attempts: number }>('jobs');
  const history = connection.collection<{ _id: string; output: { key: string } | null }>('job_history');
  await until('the first jobs have ended', async () => (await live.countDocuments()) === 0);
  await keepForEver(history);
  const forEver = { $set: { expiresAt: FAR_OFF } };
  await connection.collection('idempotency_keys').updateMany({}, forEver);

  const underWay = {
    freeProcessing: await submit(free.apiKey, html('free processing', SLOW)),
    freeWaiting: [
      await submit(free.apiKey, html('free waiting 1')),
      await submit(free.apiKey, html('free waiting 2'), { 'idempotency-key': 'waiting-2' }),
      await submit(free.apiKey, html('free waiting 3')),
    ],
    retryWaiting: await submit(key, html('retry waiting', { delayMs: 5000, timeoutMs: 1000 })),
    processing: '',
    dispatched: '',
    cancelled: await submit(key, html('cancelled', SLOW)),
  };
  await call('DELETE', `/v1/pdf/jobs/${underWay.cancelled}`, key);
  await until('one waits for its next attempt', async () => {
    const job = await live.findOne({ _id: underWay.retryWaiting });
    return job?.attempts === 1 && job.state === 'queued';
  });
  underWay.processing = await submit(key, html('processing', SLOW));
  underWay.dispatched = await submit(key, html('dispatched', SLOW));
  // Its caller never hears of it: the process dies first. Its kind of answer is told by nothing but the key.
  const waiter = sync(free.apiKey, html('free waiting sync'), { 'idempotency-key': 'unanswered-1' });
  waiter.catch(() => {});
  await until('five wait', async () => (await live.countDocuments({ state: 'queued' })) === 5);
  await live.updateMany({}, { $set: { retentionHours: LONG_RETENTION_HOURS } });
  await connection.collection('idempotency_keys').updateMany({}, forEver);
  await keepForEver(history);
  // The embedded database writes what it has been told within a tenth of a second.
  await sleep(500);
  const states = Object.fromEntries((await live.find().toArray()).map(({ _id, state }) => [_id, state]));
  const collections = (await connection.listCollections()).map(({ name }) => name);
  const counts: Record<string, number> = {};
  for (const name of collections.sort()) counts[name] = await connection.collection(name).countDocuments();
  const quotaUsed = await connection.collection('quotas').find().toArray();
  await connection.close();
  return {
    accounts: {
      operator: {
        email: BOOTSTRAP.PLATEN_BOOTSTRAP_EMAIL,
        password: BOOTSTRAP.PLATEN_BOOTSTRAP_PASSWORD,
        key,
      },
      free: { ...FREE, key: free.apiKey },
    },
    testKey: test.apiKey,
    template,
    jobs: { ...jobs, ...underWay },
    liveStates: states,
    counts,
    quotaUsed,
  };
}

async function keepForEver(
  history: mongoose.mongo.Collection<{ _id: string; output: { key: string } | null }>,
) {
  const folder = `${FAR_OFF.getTime() / HOUR_MS}`;
  for (const { _id, output } of await history.find().toArray()) {
    const update: Record<string, unknown> = { expiresAt: FAR_OFF, retentionHours: LONG_RETENTION_HOURS };
    if (output !== null && !output.key.startsWith(`${folder}/`)) {
      const key = output.key.replace(/^\d+/, folder);
      mkdirSync(join(dataDir, 'outputs', folder), { recursive: true, mode: 0o700 });
      renameSync(join(dataDir, 'outputs', output.key), join(dataDir, 'outputs', key));
      update['output.key'] = key;
    }
    await history.updateOne({ _id }, { $set: update });
  }
}

try {
  await (await start({}))('SIGTERM');
  const kill = await start(BOOTSTRAP);
  const content = await fill();
  await kill('SIGKILL');
  execFileSync('tar', ['-czf', resolve(archive), '--owner=0', '--group=0', '-C', scratch, 'data']);
  const firstKey = readFileSync(join(dataDir, 'first-api-key'), 'utf8').trim();
  const text = JSON.stringify({ ...content, firstKey }, undefined, 2);
  writeFileSync(resolve(archive.replace('.tar.gz', '.json')), `${text}\n`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
