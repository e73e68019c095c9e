import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { descendants, isAlive } from '../../support/processes.ts';
import { browserOfAll, ordinary } from './ordinary-user.ts';

interface Said {
  readonly outcome: string;
  readonly ready: boolean;
  readonly restarts: readonly string[];
}

const parent = fileURLToPath(new URL('process-ids-parent.ts', import.meta.url));

describe('a renderer that has no process ids left', () => {
  let folder: string;
  let child: ChildProcess;
  let lines: AsyncIterator<string>;
  let reader: Interface;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'platen-process-ids-'));
    chmodSync(folder, 0o755);
    child = spawn(process.execPath, [parent, await browserOfAll(folder)], {
      ...ordinary,
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, HOME: tmpdir() },
    });
    reader = createInterface({ input: child.stdout! });
    lines = reader[Symbol.asyncIterator]();
  });
  after(async () => {
    child.stdin!.end();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    reader.close();
    rmSync(folder, { recursive: true });
  });

  const heard = async (): Promise<Said> => {
    const { value, done } = await lines.next();
    assert.ok(!done, `it has ended with ${child.exitCode ?? child.signalCode}`);
    return JSON.parse(value);
  };
  const render = (accountId: string, timeoutMs = 30_000): Promise<Said> => {
    child.stdin!.write(`${accountId} ${timeoutMs}\n`);
    return heard();
  };
  // As the user whose limit it is: not every root may look at that of others.
  const prlimit = (pid: number, ...args: string[]) =>
    execFileSync('prlimit', ['--pid', `${pid}`, ...args], ordinary)
      .toString()
      .trim();
  const limitOf = (pid: number) => prlimit(pid, '--nproc', '--output', 'SOFT', '--noheadings');
  const setLimit = (pid: number, soft: string) => prlimit(pid, `--nproc=${soft}:`);

  it('gives up a browser that opens no page, is not ready, and renders again when there are some', async () => {
    assert.deepEqual(await heard(), { outcome: 'started', ready: true, restarts: [] });
    assert.equal((await render('before')).outcome, 'done');
    const pid = child.pid!;
    const usual = limitOf(pid);
    // The limit is of the user, and holds for whoever has it and wants one more process or thread.
    for (const one of descendants(pid)) {
      try {
        setLimit(one.pid, '1');
      } catch (error) {
        // It has ended meanwhile.
        if (isAlive(one)) throw error;
      }
    }
    setLimit(pid, '1');

    const failed = await render('meanwhile');
    assert.match(failed.outcome, /^(BROWSER_CRASHED|RENDER_TIMEOUT|RENDER_FAILED)$/);
    // Nothing starts one without ids, so this waits for its deadline and finds none.
    const waited = await render('without', 6000);
    assert.deepEqual([waited.outcome, waited.ready], ['RENDER_TIMEOUT', false]);
    assert.ok(waited.restarts.includes('hung'), `${waited.restarts}`);
    assert.ok(waited.restarts.includes('unstartable'), `${waited.restarts}`);

    setLimit(pid, usual);
    const healed = await render('after');
    assert.deepEqual([healed.outcome, healed.ready], ['done', true]);
  });
});
