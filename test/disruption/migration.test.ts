import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from 'mongoose';
import { pino } from 'pino';
import { connectDatabase } from '../../src/infra/store/connection.ts';
import { checkLayout, LAYOUT, type Migration } from '../../src/roles/data-layout/data-layout.ts';
import { WORKER_TEMPLATE } from '../support/kubernetes/controller-process.ts';
import { startMongo } from '../support/mongo.ts';
import { freePort } from '../support/ports.ts';
import { type RoleProcess, startRole } from '../support/processes.ts';

interface LayoutRecord {
  readonly _id: 'layout';
  readonly version: number;
  readonly migratingUntil?: number;
  readonly migratingBy?: string;
}
interface Thing {
  readonly _id: string;
  readonly layout: number;
}

const TEN_MINUTES_MS = 600_000;
/** Longer than the lease, in milliseconds. */
const PAST_THE_LEASE_MS = 33_000;

describe('Data that is being migrated', () => {
  let uri: string;
  let folder: string;
  let environment: Record<string, string>;
  let connection: Connection;
  const running = new Set<RoleProcess>();

  beforeEach(async () => {
    ({ uri } = await startMongo());
    folder = await mkdtemp(join(tmpdir(), 'platen-migration-'));
    const template = join(folder, 'worker-template.yaml');
    await writeFile(template, WORKER_TEMPLATE);
    environment = {
      MONGODB_URI: uri,
      KAFKA_BROKERS: '127.0.0.1:1',
      PLATEN_SECRET: 's'.repeat(32),
      PLATEN_DATA_DIR: folder,
      PLATEN_WORKER_TEMPLATE_FILE: template,
      POD_NAME: 'pod-0',
      POD_NAMESPACE: 'default',
    };
    connection = await connectDatabase(uri, pino({ level: 'silent' }));
  });
  afterEach(async () => {
    for (const process of running) await process.end('SIGKILL');
    running.clear();
    await connection.close();
    await rm(folder, { recursive: true, force: true });
  });

  const layout = () => connection.collection<LayoutRecord>('layout');
  const record = () => layout().findOne({ _id: 'layout' });
  const start = async (role: string, more: Record<string, string> = {}) => {
    const process = await startRole(role, { ...environment, ...more });
    running.add(process);
    return process;
  };
  const ended = async (process: RoleProcess) => {
    const how = await process.ended;
    running.delete(process);
    return how;
  };
  const stopped = async (process: RoleProcess) => {
    running.delete(process);
    return process.end();
  };
  const isWaiting = ({ msg }: { readonly msg?: unknown }) =>
    String(msg).startsWith('waiting for the migration of the data by ');

  for (const role of ['api', 'worker', 'dispatcher', 'controller', 'standalone']) {
    it(`keeps ${role} waiting, which is alive, says why, and obeys SIGTERM`, async () => {
      const mark: LayoutRecord = {
        _id: 'layout',
        version: LAYOUT - 1,
        migratingUntil: Date.now() + TEN_MINUTES_MS,
        migratingBy: 'another',
      };
      await layout().insertOne(mark);
      const opsPort = String(await freePort());
      const process = await start(role, { PLATEN_OPS_PORT: opsPort });
      const { by, until } = await process.logged(isWaiting);
      assert.equal(by, 'another');
      assert.equal(until, new Date(mark.migratingUntil!).toISOString());
      const health = await fetch(`http://127.0.0.1:${opsPort}/healthz`);
      assert.deepEqual([health.status, await health.json()], [200, { live: true }]);
      const readiness = await fetch(`http://127.0.0.1:${opsPort}/readyz`);
      assert.equal(readiness.status, 503);
      assert.deepEqual(await readiness.json(), { ready: false, problems: ['the process is starting'] });
      assert.equal(await stopped(process), 0);
      assert.deepEqual(await record(), mark);
    });
  }

  it('is migrated by another process when the one that did it has died, and then to the end', async () => {
    const things = connection.collection<Thing>('things');
    await things.insertMany(
      Array.from({ length: 10 }, (_, i) => ({ _id: `thing-${i}`, layout: LAYOUT - 2 })),
    );
    await layout().insertOne({ _id: 'layout', version: LAYOUT - 2 });
    const ran: number[] = [];
    /** @param isCutOff ends in the middle, as with its process. */
    const migrations = (isCutOff: boolean): Record<number, Migration> =>
      Object.fromEntries(
        [LAYOUT - 1, LAYOUT].map((to) => [
          to,
          async (_, report) => {
            ran.push(to);
            await things.updateMany({ _id: { $lt: 'thing-5' }, layout: to - 1 }, { $set: { layout: to } });
            report({ things: 5 });
            if (isCutOff) await new Promise(() => dying.abort());
            await things.updateMany({ layout: to - 1 }, { $set: { layout: to } });
          },
        ]),
      );
    const dying = new AbortController();
    await assert.rejects(checkLayout(connection, pino({ level: 'silent' }), dying.signal, migrations(true)));
    const left = await record();
    assert.equal(left?.version, LAYOUT - 2);

    const lines: Record<string, unknown>[] = [];
    const logger = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
    await checkLayout(connection, logger, undefined, migrations(false));
    assert.deepEqual(ran, [LAYOUT - 1, LAYOUT - 1, LAYOUT]);
    assert.deepEqual(await record(), { _id: 'layout', version: LAYOUT });
    assert.equal(await things.countDocuments({ layout: LAYOUT }), 10);
    assert.equal(lines.find(isWaiting)?.by, left?.migratingBy);
    const begun = lines.filter(({ msg }) => msg === 'the data is migrated');
    assert.deepEqual(
      begun.map(({ from }) => from),
      [LAYOUT - 2, LAYOUT - 1],
    );
  });

  it('is done by one of several processes that start at once', async () => {
    await layout().insertOne({ _id: 'layout', version: LAYOUT - 1 });
    let ran = 0;
    const migration: Migration = async () => {
      ran += 1;
      await sleep(500);
    };
    const start = () =>
      checkLayout(connection, pino({ level: 'silent' }), undefined, { [LAYOUT]: migration });
    await Promise.all([start(), start(), start()]);
    assert.equal(ran, 1);
    assert.deepEqual(await record(), { _id: 'layout', version: LAYOUT });
  });

  it('can be migrated again when a migration has failed', async () => {
    await layout().insertOne({ _id: 'layout', version: LAYOUT - 1 });
    const logger = pino({ level: 'silent' });
    const failing: Migration = () => Promise.reject(new Error('the disk is full'));
    await assert.rejects(
      checkLayout(connection, logger, undefined, { [LAYOUT]: failing }),
      /the disk is full/,
    );
    assert.deepEqual(await record(), { _id: 'layout', version: LAYOUT - 1 });
    await checkLayout(connection, logger, undefined, { [LAYOUT]: () => Promise.resolve() });
    assert.deepEqual(await record(), { _id: 'layout', version: LAYOUT });
  });

  it('is left to a process that renews its lease, and waited for until it is through', async () => {
    const mark = () => ({ migratingUntil: Date.now() + 30_000, migratingBy: 'another' });
    await layout().insertOne({ _id: 'layout', version: LAYOUT - 1, ...mark() });
    const waiting = await start('migrate');
    await waiting.logged(isWaiting);
    for (let passed = 0; passed < PAST_THE_LEASE_MS; passed += 1000) {
      await sleep(1000);
      const { matchedCount } = await layout().updateOne({ migratingBy: 'another' }, { $set: mark() });
      assert.equal(matchedCount, 1, 'it was taken over');
    }
    await layout().updateOne(
      { _id: 'layout' },
      { $set: { version: LAYOUT }, $unset: { migratingUntil: '', migratingBy: '' } },
    );
    assert.equal(await ended(waiting), 0);
    assert.ok(waiting.logs.every(({ msg }) => msg !== 'the data is migrated'));
    // Not for each look at the record.
    const at = waiting.logs.filter(isWaiting).map(({ time }) => Date.parse(String(time)));
    assert.ok(at.length >= 2, `${at.length} lines`);
    for (const [i, ms] of at.slice(1).entries()) assert.ok(ms - at[i]! > 9000, at.join());
  });

  it('is not touched by a version that it is too new for, whoever migrates it', async () => {
    const mark: LayoutRecord = {
      _id: 'layout',
      version: LAYOUT + 1,
      migratingUntil: Date.now() + TEN_MINUTES_MS,
    };
    await layout().insertOne(mark);
    for (const role of ['migrate', 'dispatcher']) {
      const process = await start(role, { PLATEN_OPS_PORT: String(await freePort()) });
      assert.equal(await ended(process), 1);
      assert.match(process.output.join('\n'), new RegExp(`newer Platen \\(layout ${LAYOUT + 1}\\)`));
    }
    assert.deepEqual(await record(), mark);
  });

  it('is not touched by a version that it is too old for', async () => {
    const older = new RegExp(`older Platen \\(layout ${LAYOUT - 1}\\).*Start a version in between`);
    await layout().insertOne({ _id: 'layout', version: LAYOUT - 1 });
    for (const role of ['migrate', 'dispatcher']) {
      const process = await start(role, { PLATEN_OPS_PORT: String(await freePort()) });
      assert.equal(await ended(process), 1);
      assert.match(process.output.join('\n'), older);
    }
    assert.deepEqual(await record(), { _id: 'layout', version: LAYOUT - 1 });
  });
});
