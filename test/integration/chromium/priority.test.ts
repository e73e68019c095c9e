import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { constants, getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRenderer } from '../../../src/render/chromium/process/processes.ts';
import { eventually } from '../../support/eventually.ts';
import { descendants } from '../../support/processes.ts';
import { browserOfAll, ordinary } from './ordinary-user.ts';

const parent = fileURLToPath(new URL('sandbox-parent.ts', import.meta.url));

/** proc(5): the niceness of all threads of a process; none of one that has ended. */
function nicenessOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      nicenessOfThread(`/proc/${pid}/task/${thread}`),
    );
  } catch {
    return [];
  }
}

/** Empty when the thread has ended. */
function nicenessOfThread(folder: string): number[] {
  try {
    const stat = readFileSync(`${folder}/stat`, 'latin1');
    return [Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])];
  } catch {
    return [];
  }
}

/** Of the session that a process is in, where the kernel schedules sessions as one. */
function sessionNiceness(pid: number): number | undefined {
  const path = `/proc/${pid}/autogroup`;
  if (!existsSync(path)) return undefined;
  return Number(/nice (-?\d+)/.exec(readFileSync(path, 'latin1'))?.[1]);
}

/** nice(2) ends at 19. */
const nicer = (own: number, by: number) => Math.min(own + by, constants.priority.PRIORITY_LOW);

/** Root's browser raises threads of its own above that: it is looked at as an ordinary user's, as in the image. */
describe('the priority of a browser', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'platen-priority-'));
    chmodSync(folder, 0o755);
  });
  after(() => rmSync(folder, { recursive: true }));

  it("is lower than the service's, and that of its renderers lower still", async () => {
    const child = spawn(process.execPath, [parent, 'off', await browserOfAll(folder)], {
      ...ordinary,
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, HOME: tmpdir() },
    });
    try {
      await once(child.stdout, 'data');
      // Whoever runs the tests may have lowered it already.
      const own = getPriority();
      assert.deepEqual([...new Set(nicenessOf(child.pid!))], [own]);
      const browsers = () => descendants(child.pid!).filter(({ command }) => command.includes('--type='));
      const [browser] = browsers();
      assert.ok(browser);
      for (const { pid, command } of browsers())
        assert.ok(
          Math.min(...nicenessOf(pid)) >= nicer(own, 5),
          `${nicenessOf(pid)}: ${command.slice(0, 200)}`,
        );
      // The page that every browser opens of itself may have come before its zygotes were told.
      await eventually('renderers are nicer than that', () =>
        browsers()
          .filter(({ pid }) => isRenderer(pid))
          .map(({ pid }) => nicenessOf(pid))
          .some((threads) => threads.length > 0 && Math.min(...threads) >= 10),
      );
      if (sessionNiceness(browser.pid) !== undefined)
        await eventually('its session is nice', () => sessionNiceness(browser.pid) === 5);
    } finally {
      child.stdin.end();
      await once(child, 'exit');
    }
  });
});
