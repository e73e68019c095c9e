import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TestClient } from '../support/client.ts';
import { shellBlocks } from '../support/markdown.ts';
import { readPdf } from '../support/pdf.ts';
import { type RoleProcess, startRole } from '../support/processes.ts';
import { strictShell } from '../support/snippets.ts';

/** One render at a time, so that jobs wait. */
const ONE_SLOT = { PLATEN_WORKER_SLOTS: '1' };
const WAITING = 5;

/** Of a data folder, by the commands of the documentation. */
describe('A backup of a standalone service', () => {
  let folder: string;
  let running: RoleProcess | undefined;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-backup-'));
  });
  afterEach(async () => {
    await running?.end('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });

  const start = async (dataDir: string): Promise<TestClient> => {
    running = await startRole('standalone', { PLATEN_DATA_DIR: join(folder, dataDir), ...ONE_SLOT });
    await running.ready();
    const key = (await readFile(join(folder, dataDir, 'first-api-key'), 'utf8')).trim();
    return new TestClient(running.url, key);
  };
  const end = async () => {
    assert.equal(await running!.end(), 0);
    running = undefined;
  };
  const textOf = async (bytes: Uint8Array) => (await readPdf(bytes)).text;

  it('has its accounts, keys, links, PDFs, and the jobs that waited, in another folder', async () => {
    const before = await start('data');
    const rendered = await before.submit({ html: '<p>rendered before</p>' });
    await before.end(rendered);
    const { url } = (await before.call('GET', `/v1/pdf/jobs/${rendered}/download-url`)).json;
    const waiting: string[] = [];
    for (let i = 0; i < WAITING; i += 1)
      waiting.push(await before.submit({ html: `<p>waited ${i}</p>`, options: { delayMs: 1000 } }));
    await end();

    const commands = await shellBlocks('backup.md', '## A data folder');
    assert.equal(commands.length, 2);
    await promisify(execFile)('bash', ['-c', strictShell(commands.join('\n'))], { cwd: folder });
    // Nothing of it is read from the folder that was saved.
    await rm(join(folder, 'data'), { recursive: true });
    assert.equal((await stat(join(folder, 'restored'))).mode & 0o077, 0);
    assert.equal((await stat(join(folder, 'restored', 'secret'))).mode & 0o077, 0);

    const restartedMs = Date.now();
    const after = await start('restored');
    assert.equal(after.key, before.key);
    const file = await after.call('GET', `/v1/pdf/jobs/${rendered}/file`);
    assert.match(await textOf(file.bytes), /rendered before/);
    const linked = await fetch(new URL(new URL(url).pathname, after.url));
    assert.equal(linked.status, 200);
    assert.deepEqual(Buffer.from(await linked.arrayBuffer()), Buffer.from(file.bytes));
    let continued = 0;
    for (const [i, jobId] of waiting.entries()) {
      const job = await after.end(jobId);
      assert.equal(job.status, 'completed');
      if (Date.parse(job.completedAt) > restartedMs) continued += 1;
      const pdf = await after.call('GET', `/v1/pdf/jobs/${jobId}/file`);
      assert.match(await textOf(pdf.bytes), new RegExp(`waited ${i}`));
    }
    assert.ok(continued > 0, 'none waited');
    assert.equal((await after.call('GET', '/v1/pdf/jobs')).json.total, 1 + WAITING);
  });
});
