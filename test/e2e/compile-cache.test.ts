import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

/** What Node says about the compiled code of a process that runs a file of the bundle, apart from its exit code. */
async function compiledCodeOf(
  bundle: string,
  ...args: string[]
): Promise<{ taken: number; written: number }> {
  const env = { PATH: process.env.PATH, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
  const said: string = await run(process.execPath, args, { cwd: bundle, env, maxBuffer: 2 ** 26 }).then(
    ({ stdout, stderr }) => stdout + stderr,
    ({ stdout, stderr }) => stdout + stderr,
  );
  return {
    taken: said.match(/file:\S+\/chunks\/\S+ was accepted/g)?.length ?? 0,
    written: said.match(/writing cache for \S+ file:\S+\/chunks\/.*success/g)?.length ?? 0,
  };
}

describe('the compile cache of the bundle', () => {
  let bundle = '';

  before(async () => {
    bundle = await mkdtemp(join(tmpdir(), 'platen-bundle-'));
    await run(process.execPath, [join(root, 'scripts/bundle.ts'), bundle]);
    // The type of its files, as the project's own package says it.
    await writeFile(join(bundle, 'package.json'), '{"type":"module"}');
  });

  after(() => rm(bundle, { recursive: true, force: true }));

  it('is filled once for all roles, and is what they start from', async () => {
    const filled = await compiledCodeOf(bundle, 'compile.js');
    assert.ok(filled.written > 0, 'nothing was compiled');
    // Each ends for want of settings, when its code has been loaded.
    for (const role of ['api', 'worker', 'dispatcher', 'controller']) {
      const { taken, written } = await compiledCodeOf(bundle, 'main.js', role);
      assert.ok(taken > 0, `${role} has compiled its code itself`);
      assert.equal(written, 0, `${role} has compiled code that was not there`);
    }
  });
});
