import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestClient } from '../support/client.ts';
import { runCommand } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { startMongo } from '../support/mongo.ts';
import { freePort } from '../support/ports.ts';
import { type RoleProcess, startRole } from '../support/processes.ts';
import { send } from '../support/send.ts';

const TOKEN = 'token-of-an-operator-0123456789-abc';
const KEY = `sk_live_${'k'.repeat(40)}`;
const EMAIL = 'first@example.com';
/** What the plan `starter` renders at a time. */
const CONCURRENT = 3;

describe('The administration of standalone', () => {
  let dataDir: string;
  let running: RoleProcess;
  let opsUrl: string;
  let client: TestClient;
  /** Serves the documents; while `held` is set, it does not respond, and with `missing` it has none. */
  let pages: Server;
  let pageUrl: string;
  let held: Promise<void> | undefined;
  let missing = false;

  before(async () => {
    pages = createServer(async (_request, response) => {
      await held;
      response.writeHead(missing ? 404 : 200, { 'content-type': 'text/html' }).end('<p>page</p>');
    });
    await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
    pageUrl = `http://127.0.0.1:${(pages.address() as AddressInfo).port}/`;
    dataDir = await mkdtemp(join(tmpdir(), 'platen-admin-'));
    const opsPort = String(await freePort());
    opsUrl = `http://127.0.0.1:${opsPort}`;
    running = await startRole('standalone', {
      MONGODB_URI: (await startMongo()).uri,
      PLATEN_DATA_DIR: dataDir,
      PLATEN_OPS_PORT: opsPort,
      PLATEN_ADMIN_TOKEN: `anna:${TOKEN}`,
      PLATEN_ALLOWED_PRIVATE_NETWORKS: '127.0.0.0/8',
      PLATEN_SWEEP_MS: '500',
      PLATEN_RETRY_BASE_MS: '10',
      PLATEN_BOOTSTRAP_EMAIL: EMAIL,
      PLATEN_BOOTSTRAP_PLAN: 'starter',
      PLATEN_WORKER_SLOTS: '4',
      PLATEN_BOOTSTRAP_API_KEY: KEY,
    });
    await running.logged(({ msg }) => msg === 'ready');
    client = new TestClient(running.url, KEY);
  });
  after(async () => {
    await running?.end();
    pages.closeAllConnections();
    pages.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  const platen = async (...args: string[]) => {
    const environment = { PLATEN_ADMIN_URL: opsUrl, PLATEN_ADMIN_TOKEN: TOKEN };
    const { code, stdout, stderr } = await runCommand(['admin', ...args, '--json'], { environment });
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  /** Without the start of a process, for what is asked again and again. */
  const admin = async (path: string) => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const { status, json } = await send(opsUrl, 'GET', `/admin/api${path}`, undefined, headers);
    assert.equal(status, 200);
    return json;
  };
  const stateOf = async (jobId: string): Promise<string> => (await admin(`/jobs/${jobId}`)).state;

  it('is not served to callers, and needs the token', async () => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    assert.equal((await fetch(`${running.url}/admin/api/accounts`, { headers })).status, 404);
    assert.equal((await fetch(`${opsUrl}/admin/api/accounts`)).status, 401);
    assert.equal((await fetch(`${opsUrl}/admin/api/accounts`, { headers })).status, 200);
    assert.equal((await fetch(`${opsUrl}/healthz`)).status, 200);
  });

  it('suspends an account: what runs ends, what waits waits, and renders are refused until it is resumed', async () => {
    let respond = () => {};
    held = new Promise((resolve) => {
      respond = resolve;
    });
    // As many as the plan runs at a time, and one more.
    const document = { url: pageUrl, options: { timeoutMs: 60_000 } };
    const runs: string[] = [];
    for (let i = 0; i < CONCURRENT; i += 1) runs.push(await client.submit(document));
    const waits = await client.submit(document);
    await eventually('as many run as may', async () => {
      const states = await Promise.all(runs.map(stateOf));
      return states.every((state) => state === 'processing');
    });
    const [queue] = (await admin('/queue')).accounts;
    assert.deepEqual([queue.email, queue.reasons], [EMAIL, ['plan_concurrency']]);

    await platen('accounts', 'suspend', EMAIL, '--reason', 'abuse');
    await eventually('renders are refused', async () => {
      const { status, json } = await client.render({ html: '<p>x</p>' });
      return status === 403 && json.code === 'ACCOUNT_SUSPENDED';
    });
    respond();
    held = undefined;
    await eventually('what runs has ended', async () => {
      const states = await Promise.all(runs.map(stateOf));
      return states.every((state) => state === 'completed');
    });
    await eventually('it waits for its account alone', async () => {
      const [left] = (await admin('/queue')).accounts;
      return left.inFlight === 0 && left.reasons.join() === 'account_suspended';
    });
    assert.equal(await stateOf(waits), 'queued');

    await platen('accounts', 'resume', EMAIL);
    await eventually('what waited is rendered', async () => (await stateOf(waits)) === 'completed');
    assert.equal((await client.renderToEnd({ html: '<p>x</p>' })).status, 200);
  });

  it('renders again what has failed with a code', async () => {
    missing = true;
    const failed = [await client.submit({ url: pageUrl }), await client.submit({ url: pageUrl })];
    for (const jobId of failed) assert.equal((await client.end(jobId)).error.code, 'URL_UNREACHABLE');
    missing = false;
    await eventually('they are in the history', async () => {
      const { rows } = await admin('/jobs?errorCode=URL_UNREACHABLE');
      return rows.length === failed.length;
    });
    assert.deepEqual(await platen('jobs', 'retry', '--all', '--code', 'URL_UNREACHABLE'), {
      done: failed.length,
      skipped: {},
    });
    const [{ id: accountId }] = (await platen('accounts')).rows;
    await eventually('each is rendered once more', async () => {
      const { rows } = await admin(`/jobs?state=completed&accountId=${accountId}`);
      const repeated = rows.flatMap(({ retryOf }: { retryOf: string | null }) => retryOf ?? []);
      return failed.every((id) => repeated.includes(id));
    });
  });

  it('deletes an account: its keys are refused and its jobs and PDFs are gone, and it is listed until it is', async () => {
    const [{ id: accountId }] = (await platen('accounts')).rows;
    const jobId = await client.submit({ html: '<p>x</p>' });
    await client.end(jobId);
    assert.ok((await outputs()).length > 0);
    const deleted = await platen('accounts', 'delete', EMAIL, '--yes');
    assert.equal(deleted.id, accountId);
    await eventually('its keys are refused', async () => (await client.render({ html: 'x' })).status >= 401);
    const headers = { authorization: `Bearer ${TOKEN}` };
    await eventually('its jobs are gone', async () => {
      return (await send(opsUrl, 'GET', `/admin/api/jobs/${jobId}`, undefined, headers)).status === 404;
    });
    assert.deepEqual(await outputs(), []);
    const [row] = (await admin(`/accounts?search=${accountId}`)).rows;
    assert.equal(row.deletingSince, deleted.deletingSince);
  });

  /** PDFs and reports that are stored. */
  async function outputs(): Promise<string[]> {
    const names = await readdir(dataDir, { recursive: true });
    return names.filter((name) => /\.\d+\.(pdf|json)$/.test(name));
  }
});
