import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { assertEachOnce, processing, replenish, submitSlow, withoutWaiting } from '../support/load.ts';
import { BUSINESS_SLOTS, HUNG_MS, type Release, SLOTS_PER_WORKER } from '../support/release.ts';

/** As many as the smaller plan lets wait; while the pool grows they must not run out. */
const BURST = 48;
const RENDER_MS = 5000;
/** Renders of the account that the pool is watched for: it is sized every second. */
const WATCHED = 2;

/** Pools follow what may run, not what waits. */
export function describeScaling(release: () => Release): void {
  describe('its pool', () => {
    it("stays at one slot's worth of workers in a burst of a free account", async () => {
      await release().hasPods('worker', 1, HUNG_MS, DEFAULT_POOL);
      const client = await release().openAccount('free');
      const submissions = await submitSlow(client, BURST, RENDER_MS);
      let largest = 0;
      // Between two renders there is a moment without any.
      let atOnce = 0;
      const watched = async () => {
        largest = Math.max(largest, (await release().pods('worker', DEFAULT_POOL)).length);
        atOnce = Math.max(atOnce, await processing(client));
        await sleep(500);
        return (await client.completed()) >= WATCHED;
      };
      await eventually('some of its renders', watched, HUNG_MS);
      assert.deepEqual([largest, atOnce], [1, 1]);
      for (const id of submissions.keys()) await client.call('DELETE', `/v1/pdf/jobs/${id}`);
    });

    it("grows to the plan's concurrency in the same burst of a business account, and back to its minimum", async () => {
      const client = await release().openAccount('business');
      const started = performance.now();
      const submissions = await submitSlow(client, BURST, RENDER_MS);
      const workers = Math.ceil(BUSINESS_SLOTS / SLOTS_PER_WORKER);
      await eventually(
        `${workers} workers`,
        async () => {
          await replenish(client, submissions, BUSINESS_SLOTS, RENDER_MS);
          return (await release().readyPods('worker', DEFAULT_POOL)).length >= workers;
        },
        HUNG_MS,
      );
      console.log(`      at the plan's concurrency after ${seconds(started)} s`);
      let atOnce = 0;
      await eventually(
        'as many renders at a time as the plan allows',
        async () => {
          await replenish(client, submissions, BUSINESS_SLOTS, RENDER_MS);
          atOnce = Math.max(atOnce, await processing(client));
          return atOnce >= BUSINESS_SLOTS;
        },
        HUNG_MS,
      );
      assert.equal(atOnce, BUSINESS_SLOTS);
      await assertEachOnce(client, await withoutWaiting(client, submissions));
      const idle = performance.now();
      await release().hasPods('worker', 1, HUNG_MS, DEFAULT_POOL);
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
