import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBrowser } from '../../../src/render/chromium/process/find-browser.ts';
import { killProcess, processTree } from '../../../src/render/chromium/process/processes.ts';
import { eventually } from '../../support/eventually.ts';
import { HELD, type ImageSite, startImageSite } from './image-site.ts';
import {
  type Bench,
  browserProcesses,
  commandLine,
  failure,
  mainProcesses,
  render,
  rendererProcesses,
  startBench,
} from './support.ts';

const MINUTE_MS = 60_000;

const SLOW = '<p>x<script>1</script>';

describe('a pool of browsers', () => {
  let bench: Bench;
  let site: ImageSite;
  beforeEach(async () => {
    site = await startImageSite();
  });
  afterEach(async () => {
    await bench.close();
    await site.close();
  });

  /** Asks the site for something once its script has run. */
  const asking = (path: string) => `${SLOW}<img src="${site.at(path)}">`;

  it('replaces a browser that is killed, and fails only what ran in it', async () => {
    bench = await startBench({ browsers: 2, slots: 2 });
    await eventually('both browsers run', () => bench.renderer.health().browsers === 2);
    const renders = ['a', 'b'].map((accountId) =>
      render(bench, asking(HELD), {}, { accountId }).then(
        () => 'done',
        (error: { code: string }) => error.code,
      ),
    );
    await site.asked(2);
    process.kill(mainProcesses()[0]!, 'SIGKILL');
    await eventually('its end is known', () => bench.restarts.length > 0);
    site.letGo();
    assert.deepEqual((await Promise.all(renders)).sort(), ['BROWSER_CRASHED', 'done']);
    await eventually(
      'the browser is replaced',
      () => bench.restarts.length > 0 && bench.renderer.health().browsers === 2,
    );
    assert.deepEqual(bench.restarts, ['crashed']);
    await Promise.all(['a', 'b', 'c'].map((accountId) => render(bench, '<p>x', {}, { accountId })));
  });

  it('fails a render at once when its browser ends, also one that does nothing but wait', async () => {
    bench = await startBench();
    // It would wait for longer than this test may take.
    const rendering = failure(
      render(bench, asking('/loaded'), { delayMs: 10 * MINUTE_MS }, { timeoutMs: 20 * MINUTE_MS }),
    );
    await site.asked(1);
    // Until it does nothing but wait.
    await new Promise((resolve) => setTimeout(resolve, 700));
    process.kill(mainProcesses()[0]!, 'SIGKILL');
    assert.equal((await rendering).code, 'BROWSER_CRASHED');
  });

  it('fails only the render whose page crashes', async () => {
    bench = await startBench();
    const before = new Set(rendererProcesses());
    const rendering = failure(render(bench, asking(HELD), { delayMs: 5000 }));
    await site.asked(1);
    for (const pid of rendererProcesses().filter((candidate) => !before.has(candidate))) killProcess(pid);
    assert.equal((await rendering).code, 'BROWSER_CRASHED');
    await render(bench, '<p>x');
    assert.deepEqual(bench.restarts, []);
  });

  it('replaces a browser that hangs, while idle', async () => {
    // The new one is given time to answer, too: it would be taken to hang on a machine that stands still for longer.
    bench = await startBench({ checkEveryMs: 200, pingMs: 3000 });
    const [pid] = mainProcesses();
    process.kill(pid!, 'SIGSTOP');
    await eventually('the browser is replaced', () => {
      const [now, ...others] = mainProcesses();
      return now !== undefined && now !== pid && others.length === 0;
    });
    assert.deepEqual(bench.restarts, ['hung']);
    await render(bench, '<p>x');
  });

  it('ends a render in a browser that hangs at its deadline', async () => {
    // Nothing else would end it within the time of this test.
    bench = await startBench({ pingMs: 10 * MINUTE_MS });
    await render(bench, '<p>x');
    const [pid] = mainProcesses();
    process.kill(pid!, 'SIGSTOP');
    const error = await failure(render(bench, SLOW, {}, { timeoutMs: 1000 }));
    assert.equal(error.code, 'RENDER_TIMEOUT');
    await render(bench, '<p>x');
    await eventually('it has ended', () => !mainProcesses().includes(pid!));
  });

  for (const [why, recycle, reason] of [
    ['renders', { jobs: 3 }, 'jobs'],
    ['age', { ageMs: 400 }, 'age'],
    ['memory', { memoryBytes: 1 }, 'memory'],
  ] as const) {
    it(`replaces a browser for its ${why} without failing a render`, async () => {
      bench = await startBench({ recycle, checkEveryMs: 200 });
      const [first] = mainProcesses();
      await eventually('the first browser has ended', async () => {
        await Promise.all(['a', 'b'].map((accountId) => render(bench, '<p>x', {}, { accountId })));
        return !mainProcesses().includes(first!);
      });
      assert.ok(bench.restarts.length > 0);
      assert.deepEqual([...new Set(bench.restarts)], [reason]);
    });
  }

  it('waits for a browser that cannot be started, and heals when it can', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'platen-browser-'));
    const wrapper = join(folder, 'browser-shell');
    const { path, env } = await findBrowser({ warn: () => undefined });
    const works = `#!/bin/sh\n${Object.entries(env)
      .map(([name, value]) => `export ${name}='${value}'`)
      .join('\n')}\nexec '${path}' "$@"\n`;
    writeFileSync(wrapper, works);
    chmodSync(wrapper, 0o755);
    bench = await startBench({ browserPath: wrapper });
    await render(bench, '<p>x');
    writeFileSync(wrapper, '#!/bin/sh\nexit 1\n');
    process.kill(mainProcesses()[0]!, 'SIGKILL');
    await eventually('it is found unstartable', () => bench.restarts.includes('unstartable'));
    assert.equal(bench.renderer.health().ready, false);
    assert.equal((await failure(render(bench, '<p>x', {}, { timeoutMs: 500 }))).code, 'RENDER_TIMEOUT');
    const waiting = render(bench, '<p>x');
    writeFileSync(wrapper, works);
    await waiting;
    assert.equal(bench.renderer.health().ready, true);
    rmSync(folder, { recursive: true });
  });

  it('rejects what is under way when it closes, and leaves no process and no folder', async () => {
    bench = await startBench();
    const rendering = failure(render(bench, asking('/loaded'), { delayMs: 10_000 }));
    await site.asked(1);
    await bench.renderer.close();
    assert.equal((await rendering).code, 'WORKER_LOST');
    assert.equal((await failure(render(bench, '<p>x'))).code, 'WORKER_LOST');
    assert.deepEqual(
      browserProcesses().filter((pid) => commandLine(pid).includes('--user-data-dir')),
      [],
    );
    assert.deepEqual(readdirSync(bench.userDataRoot), []);
  });

  it('keeps the number of processes through a hundred renders', async () => {
    bench = await startBench();
    const account = (i: number) => `account-${i % 3}`;
    const html = (i: number) => (i % 4 === 0 ? `<p>${i}<script>1</script>` : `<p>${i}`);
    const run = async (from: number, to: number) => {
      for (let i = from; i < to; i += 2) {
        await Promise.all([i, i + 1].map((n) => render(bench, html(n), {}, { accountId: account(n) })));
      }
    };
    await run(0, 20);
    const before = browserProcesses().length;
    await run(20, 100);
    // One that has just been given up may take a moment to end.
    await eventually(`there are no more than ${before}`, () => browserProcesses().length <= before);
  });
});

describe('when the process that renders is killed', () => {
  it('its browsers end, and their folders go at the next start', async () => {
    const root = mkdtempSync(join(tmpdir(), 'platen-orphans-'));
    const child = spawn(process.execPath, [join(import.meta.dirname, 'orphan-parent.ts'), root], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    const tree = processTree(child.pid!).filter(({ pid }) => pid !== child.pid);
    assert.ok(tree.length >= 4, `${tree.length} processes`);
    child.kill('SIGKILL');
    await eventually('no browser process is left', () =>
      tree.every(({ pid }) => !commandLine(pid).includes(root) && !isAlive(pid)),
    );
    assert.equal(readdirSync(root).length, 1);
    const bench = await startBench({ userDataRoot: root });
    assert.equal(readdirSync(root).length, 1, "the new browser's own");
    await bench.close();
    assert.equal(readdirSync(root).length, 0);
    rmSync(root, { recursive: true });
  });
});

function isAlive(pid: number): boolean {
  return processTree(pid).length > 0;
}
