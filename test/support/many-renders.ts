import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestClient } from './client.ts';

const CALLERS = 4;

/**
 * Renders one after the other by a few callers, one in twenty of which is cancelled or times out.
 *
 * @param client of an account that may do so.
 * @returns what renders up to that many, beginning with 0.
 */
export function manyRenders(client: TestClient): (end: number) => Promise<void> {
  const one = async (i: number) => {
    if (i % 40 === 10) {
      const jobId = await client.submit({
        html: '<script>for (;;);</script>',
        options: { timeoutMs: 30_000 },
      });
      await sleep(150);
      assert.equal((await client.call('DELETE', `/v1/pdf/jobs/${jobId}`)).status, 200);
      return;
    }
    if (i % 40 === 30) {
      const response = await client.render({
        html: '<p>x</p>',
        // Enough for a busy machine to come as far as to wait for it.
        options: { waitForSelector: '#no', timeoutMs: 3000 },
      });
      assert.equal(response.json.code, 'SELECTOR_TIMEOUT');
      return;
    }
    const response = await client.render({ html: `<h1>Render ${i}</h1>`, options: { format: 'A5' } });
    assert.equal(response.status, 200, Buffer.from(response.bytes).toString().slice(0, 200));
  };
  let next = 0;
  return async (end) => {
    const call = async () => {
      while (next < end) {
        next += 1;
        await one(next - 1);
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, call));
  };
}
