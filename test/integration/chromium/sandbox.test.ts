import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { SandboxPolicy } from '../../../src/render/chromium/process/sandbox-check.ts';
import type { BrowserStatus } from '../../../src/render/renderer.ts';
import { descendants } from '../../support/processes.ts';
import { browserOfAll, isRoot, ordinary } from './ordinary-user.ts';

interface Outcome {
  readonly found?: BrowserStatus;
  readonly error?: string;
  readonly log: readonly {
    readonly level: string | number;
    readonly msg: string;
    readonly sandbox?: string;
  }[];
  readonly child: ChildProcess;
}

const parent = fileURLToPath(new URL('sandbox-parent.ts', import.meta.url));

describe("Chromium's sandbox", () => {
  let browserPath: string;
  let folder: string;
  /** A browser that has no sandbox, whatever it is told. */
  let unsandboxed: string;
  let children: ChildProcess[];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'platen-no-sandbox-'));
    chmodSync(folder, 0o755);
    browserPath = await browserOfAll(folder);
    unsandboxed = join(folder, 'chromium-headless-shell');
    writeFileSync(unsandboxed, `#!/bin/sh\nexec '${browserPath}' "$@" --no-sandbox\n`, { mode: 0o755 });
  });
  after(() => rmSync(folder, { recursive: true }));
  beforeEach(() => {
    children = [];
  });
  afterEach(() =>
    Promise.all(
      children.map(async (child) => {
        child.stdin?.end();
        if (child.exitCode === null) await once(child, 'exit');
      }),
    ),
  );

  const start = async (policy: SandboxPolicy, user: object, path = browserPath): Promise<Outcome> => {
    const child = spawn(process.execPath, [parent, policy, path], {
      ...user,
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, HOME: tmpdir() },
    });
    children.push(child);
    for await (const line of createInterface({ input: child.stdout! })) {
      return { ...(JSON.parse(line) as Omit<Outcome, 'child'>), child };
    }
    throw new Error('it said nothing');
  };

  /** The pid namespace of a process; none of one that has ended. */
  const pidSpaceOf = (pid: number): string[] => {
    try {
      return [readlinkSync(`/proc/${pid}/ns/pid`)];
    } catch {
      return [];
    }
  };

  /** Whether this machine lets an ordinary user make what the sandbox is made of. */
  const machineAllowsIt = () =>
    spawnSync(
      'unshare',
      ['--user', '--map-root-user', '--pid', '--net', '--fork', 'chroot', '/', 'true'],
      ordinary,
    ).status === 0;

  it('is found where the machine allows it, and reported as missing where it does not', async () => {
    const { found, error, log, child } = await start('preferred', ordinary);
    const expected = machineAllowsIt() ? 'on' : 'off';
    assert.equal(found?.sandbox, expected, error);
    assert.match(found.version, /Chrome\/\d+\.\d+/);
    assert.ok(
      log.some(({ sandbox }) => sandbox === expected),
      'the log says so',
    );
    if (isRoot) {
      const spaces = new Set(descendants(child.pid!).flatMap(({ pid }) => pidSpaceOf(pid)));
      assert.equal(
        spaces.size > 1,
        expected === 'on',
        'processes of the browser have pid namespaces of their own',
      );
    }
    const required = await start('required', ordinary);
    if (expected === 'on') assert.equal(required.found?.sandbox, 'on');
    else assert.match(required.error ?? '', /PLATEN_SANDBOX is required/);
  });

  it('is off when the setting is off, and that is logged', async () => {
    const { found, log } = await start('off', ordinary);
    assert.deepEqual([found?.sandbox, found?.reason], ['off', 'PLATEN_SANDBOX is off']);
    assert.ok(log.some(({ msg }) => /runs without its sandbox: PLATEN_SANDBOX is off/.test(msg)));
  });

  it('is checked in the browser, not in its command line', async () => {
    const { found, log } = await start('preferred', ordinary, unsandboxed);
    assert.equal(found?.sandbox, 'off');
    assert.ok(log.some(({ msg, sandbox }) => sandbox === 'off' && /sandbox/.test(msg)));
    const { error } = await start('required', ordinary, unsandboxed);
    assert.match(error ?? '', /PLATEN_SANDBOX is required, and Chromium's sandbox is not in force/);
  });

  if (isRoot) {
    it('is off for root, with the reason, and ends the start when it is required', async () => {
      const { found } = await start('preferred', {});
      assert.deepEqual([found?.sandbox, found?.reason], ['off', 'Chromium refuses to run sandboxed as root']);
      const { error } = await start('required', {});
      assert.match(error ?? '', /not in force: Chromium refuses to run sandboxed as root/);
    });
  }
});
