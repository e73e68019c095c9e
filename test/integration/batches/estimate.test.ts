import assert from 'node:assert/strict';
import type { Job } from '../../../src/work/jobs/job.ts';
import { eventually } from '../../support/eventually.ts';
import { type TestCaller, useApi } from '../http/support/api.ts';
import { latch } from '../http/support/test-worker.ts';

const SLOTS = 2;
const ITEMS = 40;
/** What every render takes, by the clock of the service. */
const RENDER_MS = 20_000;
/** How long the slots are elsewhere: several times what the batch takes by itself. */
const OTHERS = 3 * ITEMS;

describe('estimatedCompletionTime half-way through a batch', () => {
  const api = useApi({ plan: { concurrentRenders: SLOTS, maxWaitingJobs: 1000 } });
  let caller: TestCaller;
  /** Ends the renders that run, in the order in which they began. */
  let gates: ReturnType<typeof latch>[];
  let batchItems: number;

  beforeEach(async () => {
    caller = await api.newCaller();
    gates = [];
    batchItems = 0;
    api.worker.render = async ({ item }: Job) => {
      if (item?.id.startsWith('item-')) batchItems += 1;
      const gate = latch();
      gates.push(gate);
      await gate.opened;
      return { pages: 1 };
    };
  });

  async function submit(count: number, prefix: string): Promise<string> {
    const items = Array.from({ length: count }, (_, i) => ({ id: `${prefix}${i}`, html: '<p>x</p>' }));
    const response = await caller.post('/v1/pdf/batch', { items });
    assert.equal(response.status, 202);
    // Were the clock set forward meanwhile, the process that writes the jobs of the batch would take itself for dead.
    await api.domain.batches.reconciler.idle();
    return response.json.jobId;
  }

  const status = async (id: string) => (await caller.get(`/v1/pdf/batch/${id}?limit=0`)).json;

  /** All slots render for as long as that takes, and end: so often. */
  async function pass(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      await eventually('all slots render', () => gates.length === SLOTS);
      // What has ended is counted at once: by the clock of the service it would take another few renders.
      await api.domain.followUp.flush();
      api.domain.clock.pass(RENDER_MS);
      for (const gate of gates.splice(0)) gate.open();
    }
  }

  /** What is left at half of the items, as it is estimated, is half to twice of what it takes from there. */
  async function assertEstimate(batchId: string, endedBefore: number): Promise<void> {
    await pass((ITEMS / 2 - endedBefore) / SLOTS);
    const half = async () => (await status(batchId)).progress.completed === ITEMS / 2;
    await eventually('half of it is counted', half);
    const now = api.domain.clock.now().getTime();
    const estimate = Date.parse((await status(batchId)).estimatedCompletionTime);
    await pass(ITEMS / 2 / SLOTS);
    await eventually('it has ended', async () => (await status(batchId)).finishedAt !== null);
    const real = Date.parse((await status(batchId)).finishedAt) - now;
    const estimated = estimate - now;
    assert.ok(estimated >= real / 2 && estimated <= 2 * real, `${estimated} ms, and it was ${real} ms`);
  }

  it('is within a factor of two at an even pace', async () => {
    await assertEstimate(await submit(ITEMS, 'item-'), 0);
  });

  it('is within a factor of two when all slots were elsewhere first', async () => {
    await submit(OTHERS, 'other-');
    await eventually('they render', () => gates.length === SLOTS);
    const batchId = await submit(ITEMS, 'item-');
    await pass(OTHERS / SLOTS);
    await assertEstimate(batchId, 0);
  });

  it('is within a factor of two when the slots were elsewhere once its first items had ended', async () => {
    const batchId = await submit(ITEMS, 'item-');
    await eventually('it renders', () => gates.length === SLOTS);
    // Callers who wait for their PDFs go before the batches of the account.
    const renders = Array.from({ length: OTHERS }, () => caller.render({ html: '<p>x</p>' }));
    const waiting = async () => (await api.domain.ledger.find(caller.accountId))?.waiting;
    await eventually('they wait', async () => (await waiting()) === ITEMS - SLOTS + OTHERS);
    await pass(1 + OTHERS / SLOTS);
    assert.equal(batchItems, SLOTS, 'no further item has begun meanwhile');
    for (const { status: responded } of await Promise.all(renders)) assert.equal(responded, 200);
    await assertEstimate(batchId, SLOTS);
  });
});
