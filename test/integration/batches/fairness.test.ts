import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobPointer } from '../../../src/infra/bus/bus.ts';
import { eventually } from '../../support/eventually.ts';
import { type TestCaller, useApi } from '../http/support/api.ts';

const ITEMS = 1000;
/** Far more than the worker of the tests has: what is published and has no slot there waits on the bus. */
const PLAN_SLOTS = 200;
const WORKER_SLOTS = 16;
/** One is kept for an account that holds none (docs/scheduling.md). */
const BATCH_SLOTS = WORKER_SLOTS - 1;
const SINGLES = 8;
/** Long enough that the batch outlives the single renders on a machine that is slow. */
const ITEM_MS = 200;

describe(`single renders concurrent with a batch of ${ITEMS}`, () => {
  const api = useApi({
    plan: { concurrentRenders: PLAN_SLOTS, maxBatchItems: ITEMS, monthlyRenders: 10_000 },
  });
  let owner: TestCaller;
  let other: TestCaller;
  /** Items whose renders have begun. */
  let begun = 0;
  /** The first items stay in the worker until all slots of the plan are taken, however slowly items are let in. */
  const taken = Promise.withResolvers<void>();
  /** By single render: how many items had begun when its pointer was published, and when it began itself. */
  const published = new Map<string, number>();
  const waited = new Map<string, number>();

  before(async () => {
    const { bus } = api.domain;
    const publish = bus.publishPointer.bind(bus);
    bus.publishPointer = (pointer: JobPointer) => {
      if (pointer.class === 'interactive') published.set(pointer.jobId, begun);
      return publish(pointer);
    };
    [owner, other] = [await api.newCaller(), await api.newCaller()];
    api.worker.render = async (job) => {
      if (job.item === undefined) waited.set(job._id, begun - (published.get(job._id) ?? Number.NaN));
      else {
        begun += 1;
        await taken.promise;
        await sleep(ITEM_MS);
      }
      return { pages: 1 };
    };
  });

  it('go before its items, renders of other accounts and of its owner, as soon as a slot of the worker is free', async () => {
    const items = Array.from({ length: ITEMS }, (_, i) => ({ id: `item-${i}`, html: `<p>${i}</p>` }));
    const { status, json } = await owner.post('/v1/pdf/batch', { items });
    assert.equal(status, 202);
    const progress = async () => (await owner.get(`/v1/pdf/batch/${json.jobId}?limit=0`)).json.progress;
    // All plan slots are taken, so the owner's own has to wait for one of them.
    const hasAllSlots = async () => {
      const { pending, throttled } = await progress();
      return begun === BATCH_SLOTS && pending - throttled === PLAN_SLOTS;
    };
    await eventually('the batch has all the slots of its plan', hasAllSlots);
    taken.resolve();
    for (let i = 0; i < SINGLES; i += 1) {
      for (const caller of [other, owner]) await caller.completed();
    }
    const { pending } = await progress();
    assert.ok(pending > PLAN_SLOTS, `${pending} items were still to come: it was no race against an end`);
    assert.equal(waited.size, 2 * SINGLES);
    for (const passed of waited.values()) {
      // Those that were being taken when it was published, and each fourth slot, which is bulk work's.
      assert.ok(passed <= 2 * WORKER_SLOTS, `${passed} items have gone before it`);
    }
  });
});
