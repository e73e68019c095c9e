import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mongoose from 'mongoose';
import { TestClient } from '../support/client.ts';
import { runCommand } from '../support/command.ts';
import { listeningPorts } from '../support/listening.ts';
import { readPdf } from '../support/pdf.ts';
import { descendants, type RoleProcess, startRole } from '../support/processes.ts';

const KEY = `sk_live_${'given-by-the-operator-0123456789'.padEnd(40, 'x')}`;
const BOOTSTRAP = {
  PLATEN_BOOTSTRAP_EMAIL: 'first@example.com',
  PLATEN_BOOTSTRAP_PASSWORD: 'a password',
  PLATEN_BOOTSTRAP_PLAN: 'starter',
  PLATEN_BOOTSTRAP_API_KEY: KEY,
  // What a killed one has left is taken up soon.
  PLATEN_LEASE_MS: '1000',
  PLATEN_SWEEP_MS: '200',
};

describe('the life of a standalone service', () => {
  let dataDir: string;
  let running: RoleProcess | undefined;
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'platen-life-'));
  });
  after(async () => {
    await running?.end();
    await rm(dataDir, { recursive: true, force: true });
  });
  const start = async (environment: Record<string, string>) => {
    running = await startRole('standalone', { PLATEN_DATA_DIR: dataDir, ...environment });
    await running.ready();
  };
  /** Of the one that a test has left running, or of a new one. */
  const client = async () => {
    if (running === undefined) await start(BOOTSTRAP);
    return new TestClient(running!.url, KEY);
  };
  const end = async (signal?: NodeJS.Signals) => {
    await running!.end(signal);
    running = undefined;
  };

  it('has the given key from the first moment, and its data after each end, in good order or not', async () => {
    const kept: { jobId: string; text: string }[] = [];
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL'] as const) {
      const own = await client();
      for (const { jobId, text } of kept) {
        const file = await own.call('GET', `/v1/pdf/jobs/${jobId}/file`);
        assert.equal(file.status, 200, `${text}, after a restart`);
        assert.match((await readPdf(file.bytes)).text, new RegExp(text));
      }
      const text = `kept through ${signal}`;
      const jobId = await own.submit({ html: `<p>${text}</p>` });
      await own.end(jobId);
      kept.push({ jobId, text });
      // The embedded server writes its last tenth of a second only then.
      await new Promise((resolve) => setTimeout(resolve, 700));
      assert.ok(descendants(running!.pid).length >= 2, 'a database and a browser at least');
      // Fails if anything that it started outlives it.
      await end(signal);
    }
    assert.equal((await (await client()).call('GET', '/v1/pdf/jobs')).json.total, kept.length);
  });

  it('finishes what was accepted before it was killed', async () => {
    const first = await client();
    const ids: string[] = [];
    for (let i = 0; i < 6; i += 1)
      ids.push(await first.submit({ html: `<p>${i}</p>`, options: { delayMs: 800 } }));
    await new Promise((resolve) => setTimeout(resolve, 700));
    await end('SIGKILL');
    const again = await client();
    for (const id of ids) assert.equal((await again.end(id)).status, 'completed');
  });

  it('checks templates and renders them in the same process', async () => {
    const own = await client();
    const { PLATEN_BOOTSTRAP_EMAIL: email, PLATEN_BOOTSTRAP_PASSWORD: password } = BOOTSTRAP;
    const { accessToken } = (await own.call('POST', '/auth/login', { email, password })).json;
    const draft = { name: 'Greeting', content: '<p>Hello {{ name }}</p>', sampleData: '{}' };
    const saved = await own.call('POST', '/user/templates', draft, {
      authorization: `Bearer ${accessToken}`,
    });
    assert.equal(saved.status, 201);
    const pdf = await own.renderToEnd({ templateId: saved.json.id, data: { name: 'Ada' } });
    assert.equal(pdf.status, 200, Buffer.from(pdf.bytes).toString().slice(0, 300));
    assert.match((await readPdf(pdf.bytes)).text, /Hello Ada/);
    const engines = descendants(running!.pid).filter(({ command }) => /engine\/process-main/.test(command));
    assert.equal(engines.length, 1);
  });

  it('has no port at which its database responds, as every user of the machine could ask it there', async () => {
    await client();
    const processes = descendants(running!.pid).map(({ pid }) => pid);
    assert.ok(processes.length > 1);
    assert.deepEqual(listeningPorts(processes), []);
    const own = listeningPorts([running!.pid]);
    assert.ok(own.includes(Number(new URL(running!.url).port)));
    const asked = own.map((port) =>
      mongoose
        .createConnection(`mongodb://127.0.0.1:${port}/platen`, { serverSelectionTimeoutMS: 1000 })
        .asPromise(),
    );
    assert.ok((await Promise.allSettled(asked)).every(({ status }) => status === 'rejected'));
  });

  it('lets its operator manage accounts while it runs, and when it does not', async () => {
    const accounts = async (...args: string[]) => {
      const options = { environment: { PLATEN_DATA_DIR: dataDir } };
      const { code, stdout, stderr } = await runCommand(['accounts', ...args, '--json'], options);
      assert.equal(code, 0, stderr);
      return JSON.parse(stdout);
    };
    const own = await client();
    const addressFile = join(dataDir, 'database-uri');
    assert.equal((await stat(addressFile)).mode & 0o077, 0);
    const { password } = await accounts('create', 'second@example.com', '--plan', 'professional');
    const login = await own.call('POST', '/auth/login', { email: 'second@example.com', password });
    assert.equal(login.status, 200);
    await end();
    await assert.rejects(stat(addressFile), { code: 'ENOENT' });
    const listed: { email: string; plan: string }[] = await accounts('list');
    assert.deepEqual(
      listed.map(({ email, plan }) => [email, plan]),
      [
        ['first@example.com', 'starter'],
        ['second@example.com', 'professional'],
      ],
    );
    // What a killed one has left behind leads nobody astray.
    await start(BOOTSTRAP);
    await end('SIGKILL');
    await stat(addressFile);
    assert.equal((await accounts('list')).length, 2);
  });

  it('makes an account by itself when none is given, shows its key once and keeps it private', async () => {
    const own = await mkdtemp(join(tmpdir(), 'platen-own-'));
    try {
      await start({ PLATEN_DATA_DIR: own });
      const keyFile = join(own, 'first-api-key');
      const key = (await readFile(keyFile, 'utf8')).trim();
      assert.equal((await stat(keyFile)).mode & 0o077, 0);
      assert.equal((await stat(join(own, 'secret'))).mode & 0o077, 0);
      const mine = new TestClient(running!.url, key);
      assert.equal((await mine.render({ html: '<p>first</p>' })).status, 200);
      await end();
      await start({ PLATEN_DATA_DIR: own });
      assert.equal((await new TestClient(running!.url, key).call('GET', '/v1/pdf/jobs')).json.total, 1);
      await end();
    } finally {
      await rm(own, { recursive: true, force: true });
    }
  });

  it('lists all errors of its environment, and ends', async () => {
    const refused = await startRole('standalone', {
      PORT: 'eighty',
      PLATEN_ISOLATION: 'none',
      PLATEN_DATA_DIR: dataDir,
    });
    await assert.rejects(refused.ready(), /PORT: [\s\S]*PLATEN_ISOLATION: /);
    const bare = await startRole('api', {});
    await assert.rejects(
      bare.ready(),
      /MONGODB_URI: required[\s\S]*KAFKA_BROKERS: required[\s\S]*PLATEN_SECRET: required/,
    );
  });
});
