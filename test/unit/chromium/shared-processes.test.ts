import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { RenderBrowser } from '../../../src/render/chromium/browsers/browser.ts';
import type { BrowserProcess } from '../../../src/render/chromium/browsers/browser-scale.ts';
import { RecentRenders } from '../../../src/render/chromium/browsers/recent-renders.ts';
import { SharedProcesses } from '../../../src/render/chromium/browsers/shared-processes.ts';
import { type ProcessKind, sampleProcess } from '../../../src/render/chromium/process/processes.ts';
import { eventually } from '../../support/eventually.ts';

const CHECKS = 12;
const CHECK_EVERY_MS = 100;

describe('the processes that pages of a browser share', () => {
  let ended: string[];
  let measured: Map<string, number>;
  let shared: SharedProcesses;
  let children: ChildProcess[];
  beforeEach(() => {
    ended = [];
    measured = new Map();
    children = [];
    const note = (name: string) => ({
      set: ({ kind }: { kind: string }, value: number) => void measured.set(`${kind} ${name}`, value),
    });
    shared = new SharedProcesses({
      memoryBytes: 1024 ** 3,
      onSuspects: () => undefined,
      logger: { warn: () => undefined },
      metrics: {
        browserProcesses: note('processes'),
        browserMemory: note('bytes'),
        browserProcessor: {
          inc: ({ kind }, seconds) => {
            const name = `${kind} seconds`;
            measured.set(name, (measured.get(name) ?? 0) + seconds);
          },
        },
        browserProcessesEnded: { inc: ({ kind, reason }) => ended.push(`${kind} ${reason}`) },
      },
    });
  });
  afterEach(() => {
    for (const child of children) child.kill('SIGKILL');
  });

  /** A process that computes without end, in place of a browser's. */
  const computing = async (): Promise<ChildProcess> => {
    const child = spawn(process.execPath, ['-e', 'console.log(1); for (;;);'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    children.push(child);
    await once(child.stdout!, 'data');
    return child;
  };
  const browserWith = (fields: Partial<RenderBrowser> = {}) =>
    ({ pid: 1, busy: 0, jobs: 1, renders: new RecentRenders(), ...fields }) as RenderBrowser;
  const seenAs = (kind: ProcessKind, { pid }: ChildProcess): BrowserProcess[] => {
    const sample = sampleProcess(pid!);
    return sample === undefined ? [] : [{ ...sample, kind, bytes: sample.memoryBytes }];
  };
  /** Checks several times, and once more as long as the process has not had a core. */
  const check = async (kind: ProcessKind, child: ChildProcess, browser: () => RenderBrowser) => {
    for (let i = 0; i < CHECKS; i += 1) {
      const [before] = seenAs(kind, child);
      shared.check([browser()], [seenAs(kind, child)]);
      await pause(CHECK_EVERY_MS);
      await eventually('it has computed', () => {
        const [now] = seenAs(kind, child);
        return now === undefined || now.processorMs - before!.processorMs >= CHECK_EVERY_MS / 2;
      });
      if (seenAs(kind, child).length === 0) return;
    }
  };

  for (const kind of ['network', 'storage', 'utility', 'gpu'] as const) {
    it(`are ended when they compute without a render: ${kind}`, async () => {
      const child = await computing();
      const exited = once(child, 'exit');
      const browser = browserWith();
      await check(kind, child, () => browser);
      await exited;
      assert.deepEqual(ended, [`${kind} unused`]);
    });
  }

  it('may compute while there is a render, or was one since the last check', async () => {
    const child = await computing();
    const busy = browserWith({ busy: 1 });
    await check('network', child, () => busy);
    let jobs = 0;
    await check('network', child, () => browserWith({ jobs: jobs++ }));
    assert.deepEqual(ended, []);
  });

  it('are not those of one page, nor those that Chromium does not start again', async () => {
    for (const kind of ['renderer', 'zygote', 'browser'] as const) {
      const child = await computing();
      const browser = browserWith();
      await check(kind, child, () => browser);
      child.kill('SIGKILL');
    }
    assert.deepEqual(ended, []);
  });

  it('are measured by kind', async () => {
    const [first, second] = [await computing(), await computing()];
    const browser = browserWith({ busy: 1 });
    shared.check([browser, browser], [seenAs('gpu', first), seenAs('gpu', second)]);
    assert.equal(measured.get('gpu processes'), 2);
    assert.ok(measured.get('gpu bytes')! > 1024 ** 2);
    assert.ok(measured.get('gpu seconds')! > 0);
    assert.equal(measured.get('network processes'), 0);
    shared.check([browser], [[]]);
    assert.equal(measured.get('gpu processes'), 0);
  });
});
