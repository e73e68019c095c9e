import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { ChromiumRendererOptions } from '../../../src/render/chromium/create-chromium-renderer.ts';
import { killProcess } from '../../../src/render/chromium/process/processes.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type Bench,
  browserProcesses,
  commandLine,
  inDrawnFrames,
  mainProcesses,
  render,
  rendererProcesses,
  startBench,
} from './support.ts';

const GIB = 1024 ** 3;
const ACCOUNTS = ['1', '2', '3', '4', '5', '6'];
/** More than what is rendered after a browser was killed: another drain would wait for accounts that do not come again. */
const JOBS = 20;

describe('a browser that is replaced for its renders', () => {
  let bench: Bench;
  let first: number;
  let leases: { warm: number; cold: number };
  let contexts: number;
  let alive: number[];
  /** Renderer processes of a browser without contexts. */
  let spare: number;
  afterEach(() => bench.close());

  const startBrowser = async (options: Partial<ChromiumRendererOptions> = {}) => {
    // Its own: contexts of the one before it may still be counted out.
    const counted = { warm: 0, cold: 0 };
    const browsers: number[] = [];
    const restarts: string[] = [];
    leases = counted;
    alive = browsers;
    contexts = 0;
    const counts = (open: number) => {
      if (leases === counted) contexts = open;
    };
    const started = await startBench({
      recycle: { jobs: JOBS },
      checkEveryMs: 200,
      metrics: {
        browsers: { set: (count) => browsers.push(count) },
        browserRestarts: { inc: ({ reason }) => restarts.push(reason) },
        contexts: { set: counts },
        contextLeases: { inc: ({ kind }) => counted[kind]++ },
      },
      ...options,
    });
    bench = { ...started, restarts };
    first = mainProcesses()[0]!;
  };
  const start = async (options: Partial<ChromiumRendererOptions> = {}) => {
    await startBrowser(options);
    await eventually('contexts are there', () => contexts === (options.contextsAhead ?? 0));
    // What the browser was looked at by is gone then, and its own first page is there, if it has one.
    let same = 0;
    await eventually('it is at rest', async () => {
      const before = spare;
      spare = rendererProcesses().length - contexts;
      same = spare === before && (spare === 0 || spare === 1) ? same + 1 : 0;
      return same === 8;
    });
  };
  const renderAll = async (accounts = ACCOUNTS) => {
    for (const accountId of accounts)
      await render(bench, accountId === '2' ? inDrawnFrames('<p>x') : '<p>x', {}, { accountId });
  };
  /** Until its replacement runs; each account has a warm context then, and the next of them is to come. */
  const reachLimit = async () => {
    // Not one more: whoever comes while it is handed over is moved.
    for (let done = 0; done < JOBS; done++) await renderAll([ACCOUNTS[done % ACCOUNTS.length]!]);
    await eventually('its replacement runs', () => bench.restarts.length > 0);
  };
  const hasEnded = () => !mainProcesses().includes(first);
  const firstEnded = () => eventually('the first browser has ended', hasEnded);
  const contextsCounted = () =>
    eventually('each context has its process', () => rendererProcesses().length === contexts + spare);
  const assertNothingLeft = async () => {
    await eventually('one browser is left', () => mainProcesses().length === 1 && alive.at(-1) === 1);
    await eventually('its folder is gone', () => readdirSync(bench.userDataRoot).length === 1);
    await contextsCounted();
    const [main] = mainProcesses();
    const folder = /--user-data-dir=(\S+)/.exec(commandLine(main!))![1]!;
    const strangers = browserProcesses().filter(
      (pid) => commandLine(pid).includes('--user-data-dir=') && !commandLine(pid).includes(folder),
    );
    assert.deepEqual(strangers, []);
  };

  it('hands the contexts over of all who come again, who find them warm', async () => {
    await start();
    await reachLimit();
    await renderAll();
    await firstEnded();
    await renderAll();
    assert.equal(leases.cold, ACCOUNTS.length);
    assert.equal(Math.max(...alive), 2);
    assert.deepEqual(bench.restarts, ['jobs']);
    assert.equal(contexts, ACCOUNTS.length);
    await assertNothingLeft();
  });

  it('goes on serving whom it knows meanwhile, and nobody new', async () => {
    await start();
    await reachLimit();
    const before = new Set(rendererProcesses());
    await render(bench, '<p>x', {}, { accountId: 'new' });
    const [its] = rendererProcesses().filter((pid) => !before.has(pid));
    assert.ok(its !== undefined);
    assert.equal(leases.cold, ACCOUNTS.length + 1);
    process.kill(first, 'SIGKILL');
    await eventually('its end is known', () => bench.restarts.includes('crashed'));
    await render(bench, '<p>x', {}, { accountId: 'new' });
    assert.equal(leases.cold, ACCOUNTS.length + 1, 'the newcomer was in the other browser');
    assert.ok(rendererProcesses().includes(its));
    await renderAll();
    await assertNothingLeft();
  });

  it('drains while all cores compute, too', async () => {
    const CALLERS = 6;
    await start({ slots: 4, cores: 1, recycle: { jobs: 120, drainJobs: 100 } });
    let done = false;
    let coldAtLimit: number | undefined;
    const callers = Array.from({ length: CALLERS }, async (_, caller) => {
      // Each has two accounts of its own: one that came twice at once would get a second context. The replacement
      // reaches its limit, too, if the end of the first browser takes long: contexts that this drain costs do not count.
      for (let next = 0; !done && bench.restarts.length < 2; next++) {
        await render(bench, '<p>x', {}, { accountId: `${caller}, ${next % 2}` });
        if (bench.restarts.length > 0) coldAtLimit ??= leases.cold;
      }
    });
    await firstEnded();
    done = true;
    await Promise.all(callers);
    assert.equal(coldAtLimit, 2 * CALLERS);
    assert.ok(leases.cold - coldAtLimit! <= 3, `${leases.cold - coldAtLimit!} cold of ${2 * CALLERS}`);
  });

  for (const [bound, limits] of [
    ['time', { drainMs: 4000 }],
    ['renders', { drainJobs: 3 }],
  ] as const) {
    it(`ends after a bound of ${bound}, whoever has not come again`, async () => {
      await start({ recycle: { jobs: JOBS, ...limits } });
      await reachLimit();
      assert.ok(!hasEnded());
      if (bound === 'renders') await renderAll(ACCOUNTS.slice(0, 3));
      await firstEnded();
      await assertNothingLeft();
      await renderAll();
      assert.ok(leases.cold > ACCOUNTS.length, 'those who had not come again are cold');
    });
  }

  it('ends at once when memory runs short, before its drain or in it', async () => {
    let left = 4 * GIB;
    await start({ memory: { total: 8 * GIB, available: () => left }, checkEveryMs: 100 });
    await reachLimit();
    await pause(1000);
    assert.ok(!hasEnded(), 'nobody has come again');
    // Too little for contexts that wait, and enough for pages that render.
    left = GIB / 2;
    // Its drain itself would take five minutes, and this test may not.
    await firstEnded();
    [first] = mainProcesses() as [number];
    bench.restarts.length = 0;
    await reachLimit();
    await firstEnded();
    await assertNothingLeft();
  });

  it('goes at once when it is its own memory that it is replaced for', async () => {
    // It is too large from the beginning, so it need not come to rest before the first look at it, which finds contexts in it.
    await startBrowser({ recycle: { memoryBytes: 1 }, checkEveryMs: 2000 });
    await renderAll(ACCOUNTS.slice(0, 3));
    await firstEnded();
    assert.deepEqual([...new Set(bench.restarts)], ['memory']);
  });

  it('hands nothing over where contexts are not kept', async () => {
    await start({ isolation: 'job' });
    for (let i = 0; i < 4; i++) await renderAll();
    await firstEnded();
    assert.deepEqual(bench.restarts, ['jobs']);
    await assertNothingLeft();
  });

  it('drains while renders are cancelled, time out and go on', async () => {
    await start({ slots: 3, recycle: { jobs: 30, drainMs: 5000 }, contextsAhead: 2 });
    for (let round = 0; round < 2; round++) {
      const replaced = bench.restarts.length;
      while (bench.restarts.length === replaced) await renderAll();
      const outcomes = await Promise.all(
        [...ACCOUNTS, ...ACCOUNTS].map(async (accountId, i) => {
          const end = i % 3 === 0 ? AbortSignal.timeout(5 + 40 * ((i + round) % 5)) : undefined;
          const options = i % 2 === 0 ? { delayMs: 60 } : {};
          const html = i % 5 === 4 ? '<script>for (;;);</script>' : '<p>x';
          const settings = { accountId, ...(end && { signal: end }), ...(i % 5 === 4 && { timeoutMs: 300 }) };
          return await render(bench, html, options, settings).then(
            () => 'done',
            ({ code }: { code: string }) => code,
          );
        }),
      );
      assert.deepEqual(
        outcomes.filter((outcome) => !['done', 'CANCELLED', 'RENDER_TIMEOUT'].includes(outcome)),
        [],
      );
    }
    await renderAll();
    await eventually('one browser is left', () => mainProcesses().length === 1);
    await contextsCounted();
    assert.deepEqual([...new Set(bench.restarts)], ['jobs']);
  });

  for (const [which, index] of [
    ['old', 0],
    ['new', 1],
  ] as const) {
    it(`survives the death of the ${which} browser in the middle of it`, async () => {
      await start();
      for (let round = 0; round < 2; round++) {
        bench.restarts.length = 0;
        [first] = mainProcesses() as [number];
        while (!bench.restarts.includes('jobs')) await renderAll();
        const killing = pause(30 + 200 * round).then(() => {
          const ordered = mainProcesses().sort((a, b) => Number(a !== first) - Number(b !== first));
          const pid = ordered[index] ?? ordered[0]!;
          // Its drain may have ended meanwhile, and it with that.
          killProcess(pid);
          return pid;
        });
        const outcomes = await Promise.allSettled([killing, renderAll(), renderAll()]);
        for (const outcome of outcomes)
          if (outcome.status === 'rejected')
            assert.equal((outcome.reason as { code: string }).code, 'BROWSER_CRASHED');
        const killed = await killing;
        await eventually('its end is known', () => {
          const running = mainProcesses();
          return !running.includes(killed) && running.length === bench.renderer.health().browsers;
        });
        await renderAll();
        await eventually('one browser is left', () => mainProcesses().length === 1);
        await contextsCounted();
      }
    });
  }
});
