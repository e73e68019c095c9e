import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import {
  listOf,
  mapOf,
  reply,
  type ScriptedApi,
  startScriptedApi,
} from '../../../../support/kubernetes/scripted-api.ts';

const CHILD = fileURLToPath(new URL('../../../../support/kubernetes/informer-child.ts', import.meta.url));
/** 5,000 objects of 30 kB: 150 MB, read by a process that has 96 MB, which is twice what a page needs. */
const OBJECTS = 5000;
const CONTENT = 'x'.repeat(30_000);
const HEAP_MB = 96;

describe('the memory of an informer', () => {
  let server: ScriptedApi;
  before(async () => {
    server = await startScriptedApi((asked, response) => {
      if (asked.query.get('watch')) return;
      const from = Number(asked.query.get('continue') ?? 0);
      const to = Math.min(OBJECTS, from + Number(asked.query.get('limit')));
      const items = Array.from({ length: to - from }, (_, n) =>
        mapOf(`map-${from + n}`, 5, { content: CONTENT }),
      );
      reply(response, 200, listOf(10, items, to < OBJECTS ? String(to) : undefined));
    });
  });
  after(() => server.stop());

  const read = (keep: 'names' | 'all') =>
    new Promise<string>((resolve) => {
      const args = [`--max-old-space-size=${HEAP_MB}`, CHILD, server.kubeconfigPath, keep];
      execFile(process.execPath, args, (error, stdout, stderr) => resolve(error ? stderr : stdout.trim()));
    });

  it('is that of the objects it keeps and of one page, however long the list', async () => {
    assert.equal(await read('names'), String(OBJECTS));
  });

  it('would not suffice here for an informer that keeps whole objects: the bound is real', async () => {
    assert.match(await read('all'), /heap out of memory/);
  });
});
