import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { processTree } from '../../../src/render/chromium/process/processes.ts';
import { sharedMemoryRoot } from '../../../src/render/chromium/process/shared-memory.ts';
import { type Bench, render, startBench } from './support.ts';

/** A user that no machine knows; clusters give such ones. */
const STRANGER = 1_000_730_000;

/** What such a user, of the group 0, is told. Only root can ask in its place. */
function rootOfStranger(files: string): string {
  const module = new URL('../../../src/render/chromium/process/shared-memory.ts', import.meta.url);
  const script = `import { sharedMemoryRoot } from '${module}'; console.log(sharedMemoryRoot(1, '${files}'))`;
  chmodSync(files, 0o777);
  const options = { uid: STRANGER, gid: 0, env: {}, encoding: 'utf8' } as const;
  return execFileSync(process.execPath, ['--input-type=module', '--eval', script], options).trim();
}

describe('the memory that processes of a browser share', () => {
  let root: string;
  let bench: Bench | undefined;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'platen-shared-'));
  });
  afterEach(async () => {
    await bench?.close();
    rmSync(root, { recursive: true, force: true });
  });

  it('is in the configured folder, and no file is left in it', async () => {
    bench = await startBench({ sharedMemoryRoot: root });
    await render(bench, '<p>shared');
    assert.equal(readdirSync(root).length, 1);
    assert.ok(shareFilesIn(root) || shareWithoutFiles());
    await bench.close();
    bench = undefined;
    assert.deepEqual(readdirSync(root), []);
  });

  it('is with the user data otherwise', async () => {
    bench = await startBench();
    await render(bench, '<p>shared');
    const { userDataRoot } = bench;
    assert.ok(shareFilesIn(userDataRoot) || shareWithoutFiles());
  });

  it('is not in a folder with too little room, on a disk, or that is not there', () => {
    assert.equal(sharedMemoryRoot(Number.MAX_SAFE_INTEGER), undefined);
    assert.equal(sharedMemoryRoot(1, '/proc'), undefined);
    assert.equal(sharedMemoryRoot(1, join(root, 'missing')), undefined);
  });

  it("is in a folder of this user's own, wherever there is room in memory", () => {
    if (!existsSync('/dev/shm')) {
      assert.equal(sharedMemoryRoot(1), undefined);
      return;
    }
    const files = mkdtempSync('/dev/shm/platen-test-');
    try {
      const own = join(files, `platen-chromium-${userInfo().uid}`);
      assert.equal(sharedMemoryRoot(1, files), own);
      if (userInfo().uid === 0)
        assert.equal(rootOfStranger(files), join(files, `platen-chromium-${STRANGER}`));
      rmSync(own, { recursive: true });
      symlinkSync(root, own);
      assert.equal(sharedMemoryRoot(1, files), undefined, 'where somebody else leads to');
    } finally {
      rmSync(files, { recursive: true });
    }
  });
});

/** Whether at least two processes of a browser have files of this folder mapped. */
function shareFilesIn(folder: string): boolean {
  return processTree(process.pid).filter(({ pid }) => mapsOf(pid).includes(`${folder}/`)).length >= 2;
}

/** Whether they share memory that is no file, as newer browsers do: there is nothing to put anywhere then. */
function shareWithoutFiles(): boolean {
  return processTree(process.pid).some(({ pid }) => mapsOf(pid).includes('/memfd:shared-memory'));
}

/** Files that a process has mapped; none of one that has ended. */
function mapsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/maps`, 'utf8');
  } catch {
    return '';
  }
}
