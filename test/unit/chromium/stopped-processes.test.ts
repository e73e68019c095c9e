import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../support/eventually.ts';

const MODULE = fileURLToPath(
  new URL('../../../src/render/chromium/process/stopped-processes.ts', import.meta.url),
);

/** Stops three processes, has one go on, and waits to be killed. */
const PARENT = `
import { StoppedProcesses } from ${JSON.stringify(MODULE)};
const stopped = new StoppedProcesses();
const pids = process.argv.slice(1).map(Number);
for (const pid of pids) if (!stopped.stop(pid)) throw new Error('not stopped');
stopped.goOn(pids[0]);
console.log('ready');
setInterval(() => undefined, 1000);`;

function stateOf({ pid }: ChildProcess): string | undefined {
  return /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
}

describe('processes that are stopped', () => {
  it('go on when whoever has stopped them is killed', async () => {
    const sleepers = [1, 2, 3].map(() => spawn('sleep', ['60']));
    const pids = sleepers.map(({ pid }) => `${pid}`);
    const parent = spawn(process.execPath, ['--input-type=module', '-e', PARENT, ...pids], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      await new Promise((resolve) => parent.stdout.once('data', resolve));
      // A signal is sent at once, and takes effect when its process has a turn.
      await eventually('the one that goes on sleeps again', () => stateOf(sleepers[0]!) === 'S');
      await eventually('the others are stopped', () =>
        sleepers.slice(1).every((one) => stateOf(one) === 'T'),
      );
      assert.deepEqual(sleepers.map(stateOf), ['S', 'T', 'T']);
      parent.kill('SIGKILL');
      await eventually('all go on', () => sleepers.every((sleeper) => stateOf(sleeper) === 'S'));
    } finally {
      for (const child of [parent, ...sleepers]) child.kill('SIGKILL');
    }
  });
});
