import { type ChildProcess, fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { startKafka, type TestKafka } from '../support/kafka.ts';
import { startMongo } from '../support/mongo.ts';
import { type RoleProcess, startRole } from '../support/processes.ts';
import { send } from '../support/send.ts';
import { type AdmissionSample, readAdmission } from './admission.ts';
import { renderOf } from './callers.ts';
import type { BenchDocument } from './documents.ts';
import { type LoadResult, runLoad } from './load.ts';
import type { RawSubmission } from './raw-child.ts';

/** Something that renders, and can be measured. */
export interface Subject {
  readonly name: string;
  /** Where it is asked over HTTP; of raw puppeteer nothing. */
  readonly url: string;
  /** Roots of its process trees, for the memory. */
  readonly pids: readonly number[];
  /** Those of its roles that render, of which each has metrics of its own. */
  readonly workers: readonly RoleProcess[];
  run(document: BenchDocument, callers: number, durationMs: number): Promise<LoadResult>;
  /** Of Platen: what letting requests in has taken so far. */
  admission?(): Promise<AdmissionSample>;
  close(): Promise<void>;
}

const KEY = `sk_live_${'b'.repeat(43)}`;
const PASSWORD = 'correct horse battery staple';
const BOOTSTRAP = {
  PLATEN_BOOTSTRAP_PASSWORD: PASSWORD,
  PLATEN_BOOTSTRAP_EMAIL: 'bench@example.com',
  PLATEN_BOOTSTRAP_PLAN: 'business',
  PLATEN_BOOTSTRAP_API_KEY: KEY,
  NODE_ENV: 'production',
  PLATEN_PLANS_FILE: fileURLToPath(new URL('../support/plans.yaml', import.meta.url)),
};

/** Raw puppeteer in a process of its own. */
export async function openRaw(): Promise<{
  subject(kind: RawSubmission['kind'], name: string): Subject;
  close(): Promise<void>;
}> {
  const child = fork(new URL('./raw-child.ts', import.meta.url), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await nextMessage(child);
  return {
    subject: (kind, name) => ({
      name,
      url: '',
      pids: [child.pid!],
      workers: [],
      run(document, callers, durationMs) {
        child.send({ kind, document: document.name, callers, durationMs } satisfies RawSubmission);
        return nextMessage(child) as Promise<LoadResult>;
      },
      close: async () => {},
    }),
    async close() {
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.send('stop');
      await exited;
    },
  };
}

function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once('message', (message) => {
      child.off('exit', gone);
      resolve(message);
    });
    const gone = (code: number | null) => reject(new Error(`the raw subject ended with code ${code}`));
    child.once('exit', gone);
  });
}

/** `platen standalone`, asked over HTTP. */
export async function openStandalone(name: string, isolation: 'account' | 'job'): Promise<Subject> {
  const dataDir = await mkdtemp(join(tmpdir(), 'platen-bench-'));
  const role = await startRole('standalone', {
    ...BOOTSTRAP,
    PLATEN_DATA_DIR: dataDir,
    PLATEN_ISOLATION: isolation,
  });
  await role.ready();
  return overHttp({ name, url: role.url, pids: [role.pid], workers: [role] }, async () => {
    await role.end();
    await rm(dataDir, { recursive: true, force: true });
  });
}

/**
 * Processes of their own over a real Kafka and a MongoDB wire server.
 *
 * @param options.uri of the database; one of its own otherwise.
 * @param options.workers how many there are.
 */
export async function openOverKafka(
  name: string,
  options: { readonly uri?: string; readonly workers?: number } = {},
): Promise<Subject> {
  const kafka = await startKafka();
  const environment = {
    ...BOOTSTRAP,
    MONGODB_URI: options.uri ?? (await startMongo()).uri,
    KAFKA_BROKERS: kafka.brokers.join(','),
    PLATEN_SECRET: 's'.repeat(32),
  };
  const start = (role: string) => startRole(role, environment);
  const [api, dispatcher] = [await start('api'), await start('dispatcher')];
  const workers: RoleProcess[] = [];
  for (let n = options.workers ?? 1; n > 0; n -= 1) workers.push(await start('worker'));
  const roles = [api, dispatcher, ...workers];
  for (const role of roles) await role.ready();
  const pids = [...roles.map(({ pid }) => pid), kafka.pid];
  return overHttp({ name, url: api.url, pids, workers }, async () => {
    for (const role of roles) await role.end();
    await kafka.stop();
  });
}

/** `platen standalone` on a database that others write to as well. */
export async function openAlone(
  mongodbUri: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Subject> {
  const dataDir = await mkdtemp(join(tmpdir(), 'platen-bench-'));
  const environment = { ...BOOTSTRAP, MONGODB_URI: mongodbUri, PLATEN_DATA_DIR: dataDir, ...settings };
  const role = await startRole('standalone', environment);
  await role.ready();
  return overHttp({ name: 'alone', url: role.url, pids: [role.pid], workers: [role] }, async () => {
    await role.end();
    await rm(dataDir, { recursive: true, force: true });
  });
}

/** One API that is asked for renders in the background, which nobody does. */
export async function openApi(mongodbUri: string, kafka: TestKafka): Promise<Subject> {
  const role = await startRole('api', {
    ...BOOTSTRAP,
    MONGODB_URI: mongodbUri,
    KAFKA_BROKERS: kafka.brokers.join(','),
    PLATEN_SECRET: 's'.repeat(32),
  });
  await role.ready();
  const api = { name: 'api', url: role.url, pids: [role.pid], workers: [] };
  return overHttp(api, async () => void (await role.end()), 'async');
}

/** The id of the account that asks. */
export async function accountOf(url: string): Promise<string> {
  const credentials = { email: BOOTSTRAP.PLATEN_BOOTSTRAP_EMAIL, password: PASSWORD };
  const { accessToken } = (await send(url, 'POST', '/auth/login', credentials)).json;
  return (await send(url, 'GET', '/auth/me', undefined, { authorization: `Bearer ${accessToken}` })).json.id;
}

function overHttp(
  service: Pick<Subject, 'name' | 'url' | 'pids' | 'workers'>,
  close: () => Promise<void>,
  executionMode: 'sync' | 'async' = 'sync',
): Subject {
  const { url } = service;
  const pool = new Pool(url, { connections: 16, headersTimeout: 120_000, bodyTimeout: 120_000 });
  return {
    ...service,
    run(document, callers, durationMs) {
      const render = renderOf(pool, document.html, executionMode);
      return runLoad(callers, durationMs, () => render(KEY));
    },
    admission: () => readAdmission(url),
    async close() {
      await pool.close();
      await close();
    },
  };
}
