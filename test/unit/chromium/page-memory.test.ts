import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { endHeaviestPage } from '../../../src/render/chromium/browsers/page-memory.ts';

const MIB = 1024 ** 2;
const NOTHING_LEFT = { total: 1024 * MIB, available: () => 0 };
const NONE_IDLE = () => new Set<number>();

describe('The page that is ended when memory runs out', () => {
  let young: ChildProcess;
  let old: ChildProcess;
  beforeEach(async () => {
    young = spawn('sleep', ['60']);
    old = spawn('sleep', ['60']);
    await Promise.all([once(young, 'spawn'), once(old, 'spawn')]);
  });
  afterEach(() => {
    young.kill('SIGKILL');
    old.kill('SIGKILL');
  });

  /** As estimated: the young one seems to be the heavier. */
  const estimated = () => {
    const pages = new Map([
      [young.pid!, 110 * MIB],
      [old.pid!, 100 * MIB],
    ]);
    return [{ bytes: 210 * MIB, renderers: { bytes: 210 * MIB, count: 2 }, pages }];
  };
  const measured = (youngMib: number, oldMib: number) => async (pid: number) =>
    (pid === young.pid ? youngMib : oldMib) * MIB;

  it('is the one that weighs most when measured, not the one that seems to', async () => {
    const ended = await endHeaviestPage(NOTHING_LEFT, estimated(), NONE_IDLE, measured(35, 100));
    assert.equal(ended, old.pid);
    if (old.signalCode === null) await once(old, 'exit');
    assert.deepEqual([old.signalCode, young.signalCode], ['SIGKILL', null]);
  });

  it('is none when all that seem heavy are light, or have become idle meanwhile', async () => {
    assert.equal(await endHeaviestPage(NOTHING_LEFT, estimated(), NONE_IDLE, measured(35, 63)), undefined);
    let checks = 0;
    const idleThen = () => new Set(checks++ === 0 ? [] : [young.pid!, old.pid!]);
    assert.equal(await endHeaviestPage(NOTHING_LEFT, estimated(), idleThen, measured(90, 90)), undefined);
    assert.deepEqual([old.exitCode, young.exitCode], [null, null]);
  });

  it('is the largest estimate where the memory of a process cannot be read', async () => {
    const ended = await endHeaviestPage(NOTHING_LEFT, estimated(), NONE_IDLE, async () => undefined);
    assert.equal(ended, young.pid);
  });

  it('is none while enough is left', async () => {
    const enough = { total: 1024 * MIB, available: () => 52 * MIB };
    assert.equal(await endHeaviestPage(enough, estimated(), NONE_IDLE, measured(100, 100)), undefined);
  });
});
