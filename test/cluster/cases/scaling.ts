import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { assertEachOnce, orderSlow, processing } from '../support/load.ts';
import { BUSINESS_SLOTS, type Release, SLOTS_PER_WORKER } from '../support/release.ts';

/** As many as the smaller plan lets wait; while the pool grows they must not run out. */
const BURST = 48;
const RENDER_MS = 5000;
const WATCHED_MS = 20_000;

/** Pools follow what may run, not what waits. */
export function describeScaling(release: () => Release): void {
  describe('its pool', () => {
    it("stays at one slot's worth of workers in a burst of a free account", async () => {
      await release().hasPods('worker', 1, 60_000, DEFAULT_POOL);
      const client = await release().openAccount('free');
      const orders = await orderSlow(client, BURST, RENDER_MS);
      const until = performance.now() + WATCHED_MS;
      let largest = 0;
      // Between two renders there is a moment without any.
      let atOnce = 0;
      while (performance.now() < until) {
        largest = Math.max(largest, (await release().pods('worker', DEFAULT_POOL)).length);
        atOnce = Math.max(atOnce, await processing(client));
        await sleep(500);
      }
      assert.deepEqual([largest, atOnce], [1, 1]);
      for (const id of orders.keys()) await client.call('DELETE', `/v1/pdf/jobs/${id}`);
    });

    it("grows to the plan's concurrency in the same burst of a business account, and back to its minimum", async () => {
      const client = await release().openAccount('business');
      const started = performance.now();
      const orders = await orderSlow(client, BURST, RENDER_MS);
      const workers = Math.ceil(BUSINESS_SLOTS / SLOTS_PER_WORKER);
      await eventually(
        `${workers} workers`,
        async () => (await release().readyPods('worker', DEFAULT_POOL)).length >= workers,
        60_000,
      );
      console.log(`      at the plan's concurrency after ${seconds(started)} s`);
      let atOnce = 0;
      await eventually(
        'as many renders at a time as the plan allows',
        async () => {
          atOnce = Math.max(atOnce, await processing(client));
          return atOnce >= BUSINESS_SLOTS;
        },
        60_000,
      );
      assert.equal(atOnce, BUSINESS_SLOTS);
      await assertEachOnce(client, orders);
      const idle = performance.now();
      await release().hasPods('worker', 1, 120_000, DEFAULT_POOL);
      console.log(`      at the minimum ${seconds(idle)} s after the last render`);
      const controllers = await release().readyPods('controller');
      assert.equal(await release().metric('platen_wrong_victims_total', controllers), 0);
    });
  });
}

const DEFAULT_POOL = ',platen.dev/pool=default';

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1);
}
