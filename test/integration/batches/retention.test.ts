import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import type { OutputKey } from '../../../src/infra/outputs/output-store.ts';
import { itemJobId } from '../../../src/work/batches/batch.ts';
import { endBatchRetention } from '../../../src/work/batches/retention.ts';
import { endRetention } from '../../../src/work/jobs/sweeps/retention.ts';
import { eventually } from '../../support/eventually.ts';
import { type TestCaller, useApi } from '../http/support/api.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ITEMS = 70;
const COLLECTIONS = [
  'jobs',
  'job_history',
  'job_inputs',
  'job_input_chunks',
  'batch_chunks',
  'batch_tallies',
];

describe('the retention of a batch', () => {
  const api = useApi({}, 'each');
  let caller: TestCaller;

  beforeEach(async () => {
    caller = await api.newCaller();
    api.worker.render = async ({ item }) =>
      item?.id === 'item-3' ? { fails: new PlatenError('URL_UNREACHABLE') } : { pages: 1 };
  });

  /** A batch that has ended, of which one item has failed; markup and options are shared. */
  async function ended(expiresInHours?: number): Promise<string> {
    const html = `<p>${'shared '.repeat(200)}</p>`;
    const options = { displayHeaderFooter: true, headerTemplate: '<b>header</b>'.repeat(50) };
    const items = Array.from({ length: ITEMS }, (_, i) => ({ id: `item-${i}`, html, options }));
    const response = await caller.post('/v1/pdf/batch', { items, ...(expiresInHours && { expiresInHours }) });
    assert.equal(response.status, 202);
    const { jobId } = response.json;
    await eventually('it has ended', async () => (await batch(jobId)).json.finishedAt !== null);
    await api.domain.flush();
    return jobId;
  }

  const batch = (id: string) => caller.get(`/v1/pdf/batch/${id}`);

  /** What the dispatcher does once a minute. @returns how many batches and jobs it changed. */
  async function sweep(): Promise<number> {
    const { batches, store, stored, clock } = api.domain;
    const deps = { batches: batches.store, store, stored, outputs: api.outputs };
    const ended = await endBatchRetention(deps, clock.now());
    return ended + (await endRetention({ history: store.history, stored }, api.outputs, clock.now()));
  }

  async function files(): Promise<string[]> {
    const entries = await readdir(api.outputFolder!, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  }

  /** Records in the database that belong to a batch, by collection; those that have none are left out. */
  async function records(batchId: string): Promise<Record<string, number>> {
    const batch = { _id: batchId };
    const jobs = new Set(Array.from({ length: ITEMS }, (_, i) => itemJobId(batch, i, `item-${i}`)));
    const counts: Record<string, number> = {};
    for (const name of COLLECTIONS) {
      const all = await api.domain.connection.collection<{ _id: string }>(name).find().toArray();
      const own = all.filter(({ _id }) => jobs.has(_id) || _id.startsWith(`${batchId}/`)).length;
      if (own > 0) counts[name] = own;
    }
    return counts;
  }

  it('ends for all of its items at once: 410, and nothing is left behind', async () => {
    const batchId = await ended();
    const kept = await caller.completed();
    await api.domain.flush();
    assert.equal((await files()).length, ITEMS);
    const { expiresAt } = (await batch(batchId)).json;
    api.domain.clock.pass(Date.parse(expiresAt) - api.domain.clock.now().getTime() - HOUR_MS);
    await sweep();
    assert.equal((await caller.get(`/v1/pdf/batch/${batchId}/item-0`)).status, 200, 'an hour before');
    assert.equal((await caller.get(`/v1/pdf/batch/${batchId}/item-69`)).status, 200);
    const fresh = await caller.completed();

    api.domain.clock.pass(HOUR_MS + 60_000);
    for (const when of ['before the sweep', 'after it']) {
      const gone = await caller.get(`/v1/pdf/batch/${batchId}/item-0`);
      assert.deepEqual([gone.status, gone.json.code], [410, 'GONE'], when);
      const link = await caller.get(`/v1/pdf/batch/${batchId}/items/item-0/download-url`);
      assert.equal(link.status, 410, when);
      await sweep();
    }
    const left = await files();
    assert.deepEqual(
      left.map((name) => name.split('.')[0]),
      [fresh],
      `of ${kept} and the batch nothing`,
    );
    assert.deepEqual(Object.keys(await records(batchId)).sort(), ['batch_chunks', 'batch_tallies']);

    const { json } = await batch(batchId);
    assert.deepEqual(
      [json.status, json.job.accessExpired, json.manifestAvailable],
      ['completed', true, false],
    );
    assert.deepEqual([json.progress.completed, json.progress.failed], [ITEMS - 1, 1]);
    assert.equal(json.items[3].error.code, 'URL_UNREACHABLE', 'what became of each item is still known');
    assert.deepEqual([json.items[0].status, json.items[0].outputAvailable], ['completed', false]);
    assert.equal(await sweep(), 0, 'nothing is left to do');
  });

  it('ends as well when no sweep has run for days, and the batch is forgotten after three months', async () => {
    const batchId = await ended(1);
    api.domain.clock.pass(3 * DAY_MS);
    assert.equal((await caller.get(`/v1/pdf/batch/${batchId}/item-0`)).status, 410);
    await sweep();
    assert.deepEqual(await files(), []);
    assert.deepEqual(Object.keys(await records(batchId)).sort(), ['batch_chunks', 'batch_tallies']);
    api.domain.clock.pass(91 * DAY_MS);
    await sweep();
    assert.deepEqual(await records(batchId), {});
    assert.equal((await batch(batchId)).status, 404);
    assert.equal((await caller.get(`/v1/pdf/batch/${batchId}/item-0`)).status, 404);
    assert.equal((await caller.get('/v1/pdf/batch')).json.total, 0);
    assert.equal(await sweep(), 0);
  });

  it('goes on where a sweep died: between any two outputs', async () => {
    const batchId = await ended(1);
    api.domain.clock.pass(2 * HOUR_MS);
    const { batches, store, stored, clock } = api.domain;
    for (let deletions = 0; deletions < ITEMS - 1; deletions += 9) {
      let left = deletions;
      const dying = {
        ...api.outputs,
        async delete(...keys: readonly OutputKey[]) {
          for (const key of keys) {
            if (left === 0) throw new Error('killed');
            left -= 1;
            await api.outputs.delete(key);
          }
        },
      };
      const deps = { batches: batches.store, store, stored, outputs: dying };
      await endBatchRetention(deps, clock.now()).catch((error: Error) => {
        assert.equal(error.message, 'killed');
      });
    }
    await sweep();
    assert.deepEqual(await files(), []);
    assert.deepEqual(Object.keys(await records(batchId)).sort(), ['batch_chunks', 'batch_tallies']);
  });

  it('is counted from the end of the batch, for the first of its items as well', async () => {
    let held = true;
    api.worker.render = async ({ item }) => {
      while (held && item?.id === 'item-69') await new Promise((resolve) => setTimeout(resolve, 20));
      return { pages: 1 };
    };
    const items = Array.from({ length: ITEMS }, (_, i) => ({ id: `item-${i}`, html: `<p>${i}</p>` }));
    const { jobId } = (await caller.post('/v1/pdf/batch', { items, expiresInHours: 10 })).json;
    await eventually('all but one', async () => (await batch(jobId)).json.progress.completed === ITEMS - 1);
    api.domain.clock.pass(6 * HOUR_MS);
    held = false;
    await eventually('it has ended', async () => (await batch(jobId)).json.finishedAt !== null);
    api.domain.clock.pass(6 * HOUR_MS);
    await api.domain.flush();
    await sweep();
    assert.equal(
      (await caller.get(`/v1/pdf/batch/${jobId}/item-0`)).status,
      200,
      'twelve hours after it ended',
    );
    api.domain.clock.pass(5 * HOUR_MS);
    await sweep();
    assert.equal((await caller.get(`/v1/pdf/batch/${jobId}/item-0`)).status, 410);
    assert.deepEqual(await files(), []);
  });
});
