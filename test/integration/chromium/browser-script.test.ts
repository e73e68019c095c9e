import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBrowser } from '../../../src/render/chromium/process/find-browser.ts';
import { launchBrowser } from '../../../src/render/chromium/process/launch.ts';
import { processTree } from '../../../src/render/chromium/process/processes.ts';
import { eventually, HUNG_MS } from '../../support/eventually.ts';
import { type ImageSite, startImageSite } from './image-site.ts';
import {
  type Bench,
  browserProcesses,
  commandLine,
  failure,
  mainProcesses,
  render,
  startBench,
} from './support.ts';

const MINUTE_MS = 60_000;

const SLOW = '<p>x<script>1</script>';

/** As Debian's /usr/bin/chromium-headless-shell: a script that does not become the browser but starts it as its child. */
describe('a browser that a script starts as its child', () => {
  let folder: string;
  let script: string;
  let bench: Bench | undefined;
  let site: ImageSite;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'platen-script-'));
    script = join(folder, 'browser-shell');
    const { path, env } = await findBrowser({ warn: () => undefined });
    const exports = Object.entries(env).map(([name, value]) => `export ${name}='${value}'\n`);
    writeFileSync(script, `#!/bin/sh -e\n${exports.join('')}'${path}' "$@"\n`);
    chmodSync(script, 0o755);
  });
  beforeEach(async () => {
    site = await startImageSite();
  });
  afterEach(async () => {
    await bench?.close();
    bench = undefined;
    await site.close();
    assert.deepEqual(processesOf(folder), []);
  });
  after(() => rmSync(folder, { recursive: true }));

  /** Processes whose command line names something under `path`. */
  const processesOf = (path: string) => browserProcesses().filter((pid) => commandLine(pid).includes(path));
  const start = async (options: Parameters<typeof startBench>[0] = {}) => {
    bench = await startBench({ browserPath: script, ...options });
    return bench;
  };
  /** The script that runs the only browser, and the browser. */
  const both = () => {
    const [browser] = mainProcesses();
    const [parent] = processesOf(script);
    assert.ok(browser && parent && browser !== parent);
    return { parent, browser };
  };
  const replaced = (old: number) =>
    eventually('the browser is replaced', () => {
      const [now, ...others] = mainProcesses();
      return now !== undefined && now !== old && others.length === 0;
    });
  const ended = (pid: number) => eventually('it has ended', () => processTree(pid).length === 0);
  /** A render that waits in its page, for longer than a test may take, and what it fails with. */
  const waiting = async () => {
    const html = `${SLOW}<img src="${site.at('/loaded')}">`;
    const rendering = failure(
      render(bench!, html, { delayMs: 10 * MINUTE_MS }, { timeoutMs: 20 * MINUTE_MS }),
    );
    await site.asked(1);
    return { rendering };
  };

  it('is known by its own pid, and ended with its script', async () => {
    const root = join(folder, 'data');
    const binary = { path: script, kind: 'shell', env: {} } as const;
    const launched = await launchBrowser({ binary, userDataRoot: root, timeoutMs: HUNG_MS });
    assert.equal(launched.pid, both().browser);
    await launched.kill();
    assert.deepEqual(processesOf(root), []);
    assert.deepEqual(readdirSync(root), []);
  });

  it('is ended with its script when it never responds', async () => {
    const mute = join(folder, 'mute-shell');
    writeFileSync(mute, '#!/bin/sh -e\nsleep 300\nsleep 300\n');
    chmodSync(mute, 0o755);
    const before = new Set(browserProcesses());
    const binary = { path: mute, kind: 'shell', env: {} } as const;
    const launching = launchBrowser({ binary, userDataRoot: join(folder, 'data'), timeoutMs: 500 });
    await assert.rejects(launching, { name: 'TimeoutError' });
    await eventually('nothing is left', () => browserProcesses().every((pid) => before.has(pid)));
  });

  it('fails what renders in it when it is killed, and is replaced', async () => {
    const { restarts } = await start();
    const { browser } = both();
    const { rendering } = await waiting();
    process.kill(browser, 'SIGKILL');
    assert.equal((await rendering).code, 'BROWSER_CRASHED');
    await replaced(browser);
    assert.deepEqual(restarts, ['crashed']);
    await render(bench!, '<p>x');
  });

  it('is ended when its script is killed, and is replaced', async () => {
    const { restarts, userDataRoot } = await start();
    const { parent, browser } = both();
    const { rendering } = await waiting();
    process.kill(parent, 'SIGKILL');
    assert.equal((await rendering).code, 'BROWSER_CRASHED');
    await replaced(browser);
    await ended(browser);
    assert.deepEqual(restarts, ['crashed']);
    await render(bench!, '<p>x');
    await eventually(
      "only the new browser's own folder is left",
      () => readdirSync(userDataRoot).length === 1,
    );
  });

  it('is replaced with its script when it hangs', async () => {
    const { restarts } = await start({ checkEveryMs: 200, pingMs: 3000 });
    const { parent, browser } = both();
    process.kill(browser, 'SIGSTOP');
    await replaced(browser);
    await ended(parent);
    assert.deepEqual(restarts, ['hung']);
    await render(bench!, '<p>x');
  });

  it('that hangs does not hold a render past its deadline', async () => {
    await start({ pingMs: 10 * MINUTE_MS });
    await render(bench!, '<p>x');
    const { browser } = both();
    process.kill(browser, 'SIGSTOP');
    assert.equal((await failure(render(bench!, SLOW, {}, { timeoutMs: 1000 }))).code, 'RENDER_TIMEOUT');
    await render(bench!, '<p>x');
    await ended(browser);
  });

  it('does not outlive the process that renders', async () => {
    const root = join(folder, 'orphans');
    const child = spawn(process.execPath, [join(import.meta.dirname, 'orphan-parent.ts'), root, script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    const tree = processTree(child.pid!).filter(({ pid }) => pid !== child.pid);
    assert.ok(tree.length >= 5, `${tree.length} processes`);
    child.kill('SIGKILL');
    await eventually('no process is left', () => tree.every(({ pid }) => processTree(pid).length === 0));
  });
});
