import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import mongoose from 'mongoose';
import tar from 'tar-fs';
import { LAYOUT } from '../../src/roles/data-layout/data-layout.ts';
import { TestClient } from '../support/client.ts';
import { readPdf } from '../support/pdf.ts';
import { type RoleProcess, startRole } from '../support/processes.ts';

const fixture = (name: string) => new URL(`../fixtures/${name}`, import.meta.url);

interface Fixture {
  readonly accounts: Record<
    'operator' | 'free',
    { readonly email: string; readonly password: string; readonly key: string }
  >;
  readonly template: { readonly id: string; readonly versionIds: readonly string[] };
  readonly jobs: Record<string, string> & { readonly freeWaiting: readonly string[] };
}

/** Of those jobs that had ended: what their PDF says. */
const KEPT = {
  completedSync: ['operator', /completed sync/],
  completedAsync: ['operator', /completed async/],
  completedTemplate: ['operator', /Hello Grace/],
  completedFree: ['free', /completed free/],
} as const;

/** The layout of the data before it had a version: see test/fixtures/README.md. */
describe('a data folder of the layout before', () => {
  let folder: string;
  let known: Fixture;
  let running: RoleProcess | undefined;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-layout-'));
    await pipeline(createReadStream(fixture('data-layout-1.tar.gz')), createGunzip(), tar.extract(folder));
    known = JSON.parse(await readFile(fixture('data-layout-1.json'), 'utf8')) as Fixture;
  });
  after(async () => {
    await running?.end();
    await rm(folder, { recursive: true, force: true });
  });

  const dataDir = () => join(folder, 'data');
  const start = async () => {
    running = await startRole('standalone', {
      PLATEN_DATA_DIR: dataDir(),
      PLATEN_SWEEP_MS: '200',
      PLATEN_RETRY_BASE_MS: '200',
    });
    return running;
  };
  /** A test leaves it running for the next one. */
  const isReady = async () => (running ?? (await start())).ready();
  const caller = (account: 'operator' | 'free') => new TestClient(running!.url, known.accounts[account].key);
  /** Asks once a second: the free plan may not ask more often for long. */
  const ended = async (account: 'operator' | 'free', jobId: string) => {
    for (let asked = 0; asked < 120; asked += 1) {
      const { status, json } = await caller(account).call('GET', `/v1/pdf/jobs/${jobId}`);
      assert.equal(status, 200, JSON.stringify(json));
      if (!['queued', 'processing'].includes(String(json.status))) return json;
      await sleep(1000);
    }
    throw new Error(`the job ${jobId} has not ended`);
  };
  const database = async () => {
    const uri = (await readFile(join(dataDir(), 'database-uri'), 'utf8')).trim();
    return mongoose.createConnection(uri).asPromise();
  };

  it('is migrated: what had ended is there, and what was waiting or running is rendered', async () => {
    await isReady();
    for (const [job, [account, text]] of Object.entries(KEPT)) {
      const file = await caller(account).call('GET', `/v1/pdf/jobs/${known.jobs[job]}/file`);
      assert.equal(file.status, 200, job);
      assert.match((await readPdf(file.bytes)).text, text);
    }
    const failed = await caller('operator').call('GET', `/v1/pdf/jobs/${known.jobs.failed}`);
    assert.equal(failed.json.status, 'failed');
    const completedAt: number[] = [];
    for (const jobId of [known.jobs.freeProcessing!, ...known.jobs.freeWaiting]) {
      const record = await ended('free', jobId);
      assert.equal(record.status, 'completed', JSON.stringify(record));
      completedAt.push(Date.parse(String(record.completedAt)));
    }
    // One slot: they have run one after the other, in the order of their arrival.
    assert.deepEqual(
      completedAt.slice(1),
      completedAt.slice(1).sort((a, b) => a - b),
    );
    for (const job of ['processing', 'dispatched']) {
      assert.equal((await ended('operator', known.jobs[job]!)).status, 'completed', job);
    }
    assert.equal((await ended('operator', known.jobs.retryWaiting!)).status, 'failed');
    const response = await caller('operator').render({
      templateId: known.template.id,
      templateVersionId: known.template.versionIds[0],
      data: { name: 'Ada' },
    });
    assert.match((await readPdf(response.bytes)).text, /Dear Ada/);
  });

  it('has the quota that was used, with what was given back, and nothing left in hand', async () => {
    await isReady();
    const connection = await database();
    try {
      const ledgers = connection.collection<{
        inFlight: number;
        waiting: number;
        quota?: Record<string, number>;
        active?: true;
      }>('ledgers');
      const deadline = Date.now() + 60_000;
      while ((await ledgers.countDocuments({ active: true })) > 0 && Date.now() < deadline) await sleep(200);
      for (const { inFlight, waiting } of await ledgers.find({}).toArray()) {
        assert.deepEqual([inFlight, waiting], [0, 0]);
      }
      assert.equal(await connection.collection('jobs').countDocuments({}), 0);
      const used = (await ledgers.find({}).toArray()).map(({ quota }) =>
        Object.values(quota ?? {}).reduce((sum, count) => sum + count, 0),
      );
      // Six of the free account; of the operator's six and the template above, one failed and gave its own back.
      assert.deepEqual(used.sort(), [6, 6]);
      const names = (await connection.listCollections()).map(({ name }) => name);
      assert.ok(!names.includes('slots') && !names.includes('quotas'), names.join());
      assert.equal((await connection.collection('layout').findOne({}))?.version, LAYOUT);
    } finally {
      await connection.close();
    }
  });

  it('is rejected with a plain message when a newer version has written it', async () => {
    await isReady();
    const connection = await database();
    await connection.collection('layout').updateOne({}, { $set: { version: LAYOUT + 1 } });
    await connection.close();
    // The embedded server writes its last tenth of a second only then.
    await running!.end();
    running = undefined;
    const refused = await start();
    assert.equal(await refused.ended, 1);
    running = undefined;
    assert.match(refused.output.join('\n'), new RegExp(`newer Platen \\(layout ${LAYOUT + 1}\\)`));
  });
});
