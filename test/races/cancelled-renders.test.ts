import assert from 'node:assert/strict';
import { render, useBench } from '../integration/chromium/support.ts';

const RENDERS = 400;
/** Milliseconds; most renders are under way for about this long. */
const LONGEST_RENDER_MS = 30;

const DOCUMENTS = [
  '<p>no script',
  '<p>a picture <img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">',
  '<p id=p><script>p.textContent = "script"</script>',
];

describe('Renders that are cancelled at any moment', () => {
  const bench = useBench();

  it('leave no unhandled rejection behind, and a renderer that works', async () => {
    const forgotten: unknown[] = [];
    const note = (reason: unknown) => forgotten.push(reason);
    // Replaces mocha's own listener, which would end the test at the first rejection.
    const others = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    process.on('unhandledRejection', note);
    try {
      let cancelled = 0;
      const renderSome = async (first: number) => {
        for (let i = first; i < RENDERS; i += 2) {
          const cancel = new AbortController();
          setTimeout(() => cancel.abort(), Math.random() * LONGEST_RENDER_MS);
          const html = DOCUMENTS[i % DOCUMENTS.length]!;
          await render(bench, html, {}, { signal: cancel.signal }).catch((error) => {
            assert.equal(error.code, 'CANCELLED');
            cancelled += 1;
          });
        }
      };
      await Promise.all([renderSome(0), renderSome(1)]);
      assert.ok(cancelled > RENDERS / 10, `only ${cancelled} were cancelled in time`);
      const { pages } = await render(bench, '<p>afterwards');
      assert.equal(pages, 1);
    } finally {
      process.off('unhandledRejection', note);
      for (const listener of others) process.on('unhandledRejection', listener);
    }
    assert.deepEqual(forgotten, []);
    assert.deepEqual(bench.restarts, []);
  });
});
