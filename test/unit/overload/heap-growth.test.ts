import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const module = new URL('../../../src/infra/overload/heap-growth.ts', import.meta.url).href;
/** Long enough for V8 to consider the rate of allocation low. */
const QUIET_MS = 3000;

describe('The heap of a role', () => {
  it('may double before its old generation is collected, however slowly it fills', async () => {
    const script = `
      import { letHeapGrow } from '${module}';
      letHeapGrow();
      const kept = Array.from({ length: 1_000_000 }, (_, n) => ({ n }));
      globalThis.gc();
      await new Promise((resolve) => setTimeout(resolve, ${QUIET_MS}));
      globalThis.gc();
      if (kept.length !== 1_000_000) throw new Error('It was to be kept.');`;
    const flags = ['--expose-gc', '--trace-gc-verbose', '--input-type=module', '--eval', script];
    const { stdout } = await run(process.execPath, flags);
    const limits = [...stdout.matchAll(/\[HeapController\] Limit: old size: (\d+) KB, new limit: (\d+) KB/g)];
    const [, size, limit] = limits.at(-1)!.map(Number);
    assert.ok(limit! >= 2 * size!, `${size} KB may grow to ${limit} KB`);
  }).timeout(60_000);
});
