import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createSandbox,
  type Sandbox,
  SandboxError,
  type SandboxFailure,
} from '../../../src/infra/sandbox/sandbox-pool.ts';
import { eventually, HUNG_MS } from '../../support/eventually.ts';

const ENTRY = new URL('./rogue.ts', import.meta.url);

describe('Sandbox', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = createSandbox({ entry: ENTRY, processes: 1, heapMb: 64, memoryMb: 512 });
    await echo(0);
  });
  after(() => sandbox.close());

  async function echo(value: unknown): Promise<void> {
    assert.deepEqual(await sandbox.run({ deed: 'echo', value }, HUNG_MS), value);
  }
  const failsWith =
    (reason: SandboxFailure) =>
    (error: unknown): boolean => {
      assert.ok(error instanceof SandboxError, String(error));
      assert.equal(error.reason, reason);
      return true;
    };

  it('passes calls in and replies out, including bytes', async () => {
    await echo({ text: 'é', list: [1, null] });
    await echo(new Uint8Array([0, 255, 7]));
    await echo(undefined);
  });

  // What ends no thread, or ends the process around it, must end here.
  for (const [deed, reason] of [
    ['throw', 'error'],
    ['spin', 'timeout'],
    ['replace', 'memory'],
    ['grow', 'memory'],
    ['grow at once', 'memory'],
    ['fill buffers', 'memory'],
    ['exit', 'lost'],
  ] as const) {
    it(`survives work that does "${deed}", and does the next`, async () => {
      const timeoutMs = reason === 'timeout' ? 500 : HUNG_MS;
      await assert.rejects(sandbox.run({ deed }, timeoutMs), failsWith(reason));
      await echo(deed);
    });
  }

  it('reveals nothing of this process: no environment, no files', async () => {
    process.env.A_SECRET = 'x';
    const environment = (await sandbox.run({ deed: 'environment' }, HUNG_MS)) as NodeJS.ProcessEnv;
    delete process.env.A_SECRET;
    assert.equal(environment.A_SECRET, undefined);
    assert.equal(environment.PATH, undefined);
    for (const path of ['/etc/passwd', '/proc/self/environ']) {
      await assert.rejects(sandbox.run({ deed: 'read', value: path }, HUNG_MS), failsWith('error'));
    }
  });

  it('lets calls wait for a free process without counting the wait', async () => {
    const busy = assert.rejects(sandbox.run({ deed: 'spin' }, 3000), failsWith('timeout'));
    const waited = Promise.all([1, 2, 3].map((value) => sandbox.run({ deed: 'echo', value }, 2500)));
    assert.deepEqual(await waited, [1, 2, 3]);
    await busy;
  });

  it('rejects with the reason of a signal, before, while waiting and while running', async () => {
    const [running, waiting] = [new AbortController(), new AbortController()];
    const outcomes = Promise.allSettled([
      sandbox.run({ deed: 'spin' }, 60_000, { signal: running.signal }),
      sandbox.run({ deed: 'echo' }, 60_000, { signal: waiting.signal }),
      sandbox.run({ deed: 'echo' }, 60_000, { signal: AbortSignal.abort('before') }),
    ]);
    await sleep(50);
    waiting.abort('waiting');
    running.abort('running');
    const reasons = (await outcomes).map((outcome) => outcome.status === 'rejected' && outcome.reason);
    assert.deepEqual(reasons, ['running', 'waiting', 'before']);
    await echo('after');
  });

  it('reports when no process can be started, and keeps trying at growing intervals', async () => {
    const warnings: { err: Error; retryInMs: number }[] = [];
    const broken = createSandbox({
      entry: new URL('./broken.ts', import.meta.url),
      processes: 2,
      heapMb: 64,
      logger: { warn: (fields) => void warnings.push(fields as (typeof warnings)[number]) },
      random: () => 1,
    });
    await assert.rejects(broken.run({}, 1000), failsWith('lost'));
    await eventually('one of them has tried three times', () => warnings.length >= 5);
    assert.match(warnings[0]!.err.message, /broken on purpose/);
    const waits = Map.groupBy(warnings, ({ retryInMs }) => retryInMs);
    const [first, second, third] = [...waits.keys()].sort((a, b) => a - b) as [number, number, number];
    assert.deepEqual([second, third], [2 * first, 4 * first]);
    // Each of the two waits at most once at each step.
    for (const [ms, { length }] of waits) assert.ok(length <= 2, `${length} waits of ${ms} ms`);
    await broken.close();
    await assert.rejects(broken.run({}, 1000), failsWith('closed'));
  });
});
