import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startMongo } from '../support/mongo.ts';
import { freePort } from '../support/ports.ts';

const run = promisify(execFile);
const DOCUMENT = new URL('../../docs/architecture.md', import.meta.url);
const WALK_PROCESS = fileURLToPath(new URL('support/walk-process.ts', import.meta.url));
/** They say what went wrong and how often, of everything. */
const NOT_COUNTED = /^infra\/(errors|telemetry)\//;

/** What the page says of the way: its steps, the folders that it names, and how many files run at most. */
async function documented(): Promise<{ steps: string[]; folders: string[]; most: number }> {
  const [walk] = (await readFile(DOCUMENT, 'utf8')).split('# The folders of');
  const steps = [...walk!.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, file]) => file!);
  const folders = [...walk!.matchAll(/`src\/([\w/-]+)`/g)].map(([, folder]) => `${folder}/`);
  return { steps, folders, most: Number(walk!.match(/(\d+) files at most/)?.[1]) };
}

describe('The walk from a request to a PDF, walked', () => {
  let dataDir: string;
  let ran: string[];

  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'platen-walk-'));
    const { PATH, HOME, PLATEN_CHROMIUM_PATH } = process.env;
    const { stdout } = await run(process.execPath, [WALK_PROCESS], {
      env: {
        PATH,
        HOME,
        ...(PLATEN_CHROMIUM_PATH !== undefined && { PLATEN_CHROMIUM_PATH }),
        PORT: String(await freePort()),
        MONGODB_URI: (await startMongo()).uri,
        PLATEN_DATA_DIR: dataDir,
        PLATEN_LOG_LEVEL: 'error',
        // No sweep while a request is looked at.
        PLATEN_SWEEP_MS: '60000',
        PLATEN_BOOTSTRAP_EMAIL: 'walker@example.com',
        PLATEN_BOOTSTRAP_PASSWORD: 'correct horse battery staple',
        PLATEN_BOOTSTRAP_API_KEY: `sk_live_${'0123456789abcdef'.repeat(4)}`,
      },
    });
    const files: string[] = JSON.parse(stdout.trim().split('\n').at(-1)!);
    ran = files.filter((file) => !NOT_COUNTED.test(file));
  });

  after(() => rm(dataDir, { recursive: true, force: true }));

  it('passes every step', async () => {
    const { steps } = await documented();
    assert.ok(steps.length > 20);
    assert.deepEqual(
      steps.filter((file) => !ran.includes(file)),
      [],
    );
  });

  it('runs nothing outside the folders that the page names', async () => {
    const { folders } = await documented();
    assert.deepEqual(
      ran.filter((file) => file.split('/').length > 2 && !folders.some((folder) => file.startsWith(folder))),
      [],
    );
  });

  it('runs no more files than the page states', async () => {
    const { most } = await documented();
    assert.ok(ran.length <= most, `${ran.length} files, and the page says ${most}`);
  });
});
