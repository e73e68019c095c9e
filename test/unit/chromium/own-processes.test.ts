import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { OwnProcesses } from '../../../src/render/chromium/process/own-processes.ts';
import { processTree } from '../../../src/render/chromium/process/processes.ts';
import { eventually } from '../../support/eventually.ts';

/** Lists, so that processes known to be others' are sampled again at least once. */
const LISTS = 130;

describe('the list of own processes', () => {
  const children: ChildProcess[] = [];
  const startShell = (script: string) => {
    const child = spawn('sh', ['-c', script], { stdio: 'ignore' });
    children.push(child);
    return child;
  };
  after(() => {
    for (const child of children) child.kill('SIGKILL');
  });

  it('has this process and what descends from it, whenever that was started, and no other', async () => {
    const own = new OwnProcesses();
    const pids = () => own.list().map(({ pid }) => pid);
    assert.deepEqual(pids().includes(process.pid), true);
    for (let round = 0; round < 3; round += 1) {
      // It waits for the process that it has started.
      const shell = startShell('sleep 60 & wait');
      await eventually('the shell has started a process', () => processTree(shell.pid!).length === 2);
      const below = processTree(shell.pid!).map(({ pid }) => pid);
      for (let i = 0; i < LISTS; i += 1) {
        const listed = pids();
        assert.deepEqual(
          below.filter((pid) => !listed.includes(pid)),
          [],
        );
        assert.equal(listed.includes(1), process.pid === 1);
      }
      process.kill(below[1]!);
      await eventually('both have ended', () => !below.some((pid) => pids().includes(pid)));
    }
  });
});
