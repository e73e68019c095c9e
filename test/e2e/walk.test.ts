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
const NOT_COUNTED = /^(errors|telemetry)\//;

/** The part of the document that tells of the way, and the files that it names; `…/` is the folder of the one before. */
async function documented(): Promise<{ steps: string[]; named: Set<string> }> {
  const [walk] = (await readFile(DOCUMENT, 'utf8')).split('# What stands beside');
  const steps = [...walk!.matchAll(/^\| \d+ +\| `([^`]+)`/gm)].map(([, file]) => file!);
  const named = new Set<string>();
  let folder = '';
  for (const [, short, file] of walk!.matchAll(/`(…\/)?([\w/-]+\.ts)`/g)) {
    if (short === undefined) folder = file!.slice(0, file!.lastIndexOf('/') + 1);
    named.add(short === undefined ? file! : folder + file!);
  }
  return { steps, named };
}

describe('The walk from a request to a PDF, walked', () => {
  let dataDir: string;
  let ran: string[];

  before(async function () {
    this.timeout(120_000);
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
    ran = JSON.parse(stdout.trim().split('\n').at(-1)!);
  });

  after(() => rm(dataDir, { recursive: true, force: true }));

  it('passes every step', async () => {
    const { steps } = await documented();
    assert.ok(steps.length > 30);
    assert.deepEqual(
      steps.filter((file) => !ran.includes(file)),
      [],
    );
  });

  it('asks nothing that is not named beside the steps', async () => {
    const { named } = await documented();
    assert.deepEqual(
      ran.filter((file) => !named.has(file) && !NOT_COUNTED.test(file)),
      [],
    );
  });
});
