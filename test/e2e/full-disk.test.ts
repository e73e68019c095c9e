import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { TestClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { readPdf } from '../support/pdf.ts';
import { freePort } from '../support/ports.ts';
import { PROGRAM } from '../support/program.ts';
import { makeSmallDisk, type SmallDisk } from '../support/small-disk.ts';

const MIB = 1024 * 1024;
const root = fileURLToPath(new URL('../..', import.meta.url));
const KEY = `sk_live_${'given-by-the-operator-0123456789'.padEnd(40, 'x')}`;

describe('a standalone service whose disk is full', () => {
  let scratch: string;
  let disk: SmallDisk;
  let service: ChildProcess;
  let client: TestClient;

  before(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'platen-full-'));
    disk = await makeSmallDisk(scratch, 128 * MIB);
    const port = await freePort();
    // Database, PDFs and log, all on the one disk.
    const command = [disk.runner, 'sh', '-c', 'exec "$0" "$2" standalone > "$1/log"'];
    service = spawn(command[0]!, [...command.slice(1), process.execPath, disk.folder, PROGRAM], {
      cwd: root,
      env: {
        ...process.env,
        PORT: `${port}`,
        PLATEN_DATA_DIR: join(disk.folder, 'data'),
        PLATEN_BOOTSTRAP_EMAIL: 'first@example.com',
        PLATEN_BOOTSTRAP_API_KEY: KEY,
        PLATEN_WORKER_SLOTS: '2',
        PLATEN_LEASE_MS: '3000',
      },
      stdio: 'ignore',
    });
    client = new TestClient(`http://127.0.0.1:${port}`, KEY);
    await eventually('ready', async () => (await readiness())?.status === 200);
  });
  after(async () => {
    if (service.exitCode === null) {
      service.kill('SIGTERM');
      await once(service, 'exit');
    }
    disk.close();
    await rm(scratch, { recursive: true, force: true });
  });
  const readiness = () => client.call('GET', '/readyz').catch(() => undefined);
  const statusOf = async (jobId: string) => (await client.call('GET', `/v1/pdf/jobs/${jobId}`)).json.status;
  const logLines = async (): Promise<Record<string, unknown>[]> =>
    (await readFile(join(disk.seen, 'log'), 'utf8')).split('\n').flatMap(parsed);
  const logged = (text: string) =>
    eventually(`logged: ${text}`, async () => (await logLines()).some(({ msg }) => msg === text));

  it('rejects new work before the disk is full, and finishes the accepted work', async () => {
    const jobs = await Promise.all(
      Array.from({ length: 4 }, (_, n) => client.submit({ html: `<p>${n}</p>`, options: { delayMs: 1500 } })),
    );
    disk.fill(20 * MIB);
    await eventually('not ready', async () => (await readiness())?.status === 503);
    assert.match((await readiness())!.json.problems.join(), /disk full: .*outputs has \d+ MiB free/);
    const refused = await client.render({ html: '<p>refused</p>' });
    assert.equal(refused.status, 503);
    assert.equal(refused.json.code, 'UNAVAILABLE');
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    for (const jobId of jobs) assert.equal((await client.end(jobId)).status, 'completed');
    disk.empty();
    await eventually('ready', async () => (await readiness())?.status === 200);
    assert.equal((await client.render({ html: '<p>taken</p>' })).status, 200);
    await logged('new work is rejected for lack of storage; accepted work continues');
    await logged('new work is accepted again: there is storage');
  });

  it('without one free byte keeps what it has accepted, and goes on when there is room again', async () => {
    const jobs = await Promise.all(
      Array.from({ length: 4 }, (_, n) =>
        client.submit({ html: `<p>kept ${n}</p>`, options: { delayMs: 1500 } }),
      ),
    );
    disk.fill();
    // Longer than a lease, and than a retry.
    await sleep(8000);
    assert.match((await readiness())!.json.problems.join(), /disk full/);
    // More lines than the log's last page has room for.
    for (let i = 0; i < 40; i += 1) {
      assert.equal((await client.render({ html: '<p>refused</p>' })).status, 503);
    }
    for (const jobId of jobs) assert.notEqual(await statusOf(jobId), 'failed');
    assert.equal(service.exitCode, null);
    disk.empty();
    for (const [n, jobId] of jobs.entries()) {
      assert.equal((await client.end(jobId)).status, 'completed');
      const { bytes } = await client.call('GET', `/v1/pdf/jobs/${jobId}/file`);
      assert.match((await readPdf(bytes)).text, new RegExp(`kept ${n}`));
    }
    await eventually('ready', async () => (await readiness())?.status === 200);
    assert.equal((await client.render({ html: '<p>taken</p>' })).status, 200);
    // The log was on the same disk.
    await logged('log lines were lost');
    const reported = (await logLines()).map(({ msg }) => msg);
    assert.ok(!reported.includes('attempt failed'), 'nobody paid with an attempt');
    service.kill('SIGTERM');
    assert.deepEqual(await once(service, 'exit'), [0, null]);
  });
});

/** The line of a log; none for one that the full disk has cut off, which the next line may follow without a break. */
function parsed(line: string): Record<string, unknown>[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}
