import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { outputKey } from '../../../src/infra/outputs/output-store.ts';
import { endBatchRetention } from '../../../src/work/batches/retention.ts';
import type { Job } from '../../../src/work/jobs/job.ts';
import { endRetention } from '../../../src/work/jobs/sweeps/retention.ts';
import { eventually } from '../../support/eventually.ts';
import { startMongo } from '../../support/mongo.ts';
import { openApi, type TestApi, type TestCaller } from '../http/support/api.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

for (const kind of ['folder', 'database'] as const) {
  describe(`what is in the output store (${kind}) and what jobs know of`, () => {
    let api: TestApi;
    let caller: TestCaller;

    beforeEach(async () => {
      api = await openApi(kind === 'folder' ? {} : { uri: (await startMongo()).uri });
      caller = await api.newCaller();
      api.worker.render = async ({ item }) =>
        item?.id === 'item-3' ? { fails: new PlatenError('URL_UNREACHABLE') } : { pages: 1 };
    });
    afterEach(() => api.close());

    const records = (name: string) =>
      api.domain.connection.collection<{ _id: string }>(name).find().toArray();

    /** Keys of all that lies in the store, chunks of large PDFs included. */
    async function stored(): Promise<string[]> {
      if (kind === 'database') {
        const files = (await records('outputs.files')).map(({ _id }) => _id);
        const chunks = (await records('outputs.chunks')).map(({ _id }) => _id.replace(/\/\d+$/, ''));
        return [...new Set([...files, ...chunks])].sort();
      }
      const entries = await readdir(api.outputFolder!, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => relative(api.outputFolder!, join(parentPath, name)))
        .sort();
    }

    /** Keys that jobs, live or in the history, say their PDFs are under. */
    async function known(): Promise<string[]> {
      const jobs = [...(await records('jobs')), ...(await records('job_history'))] as unknown as Job[];
      return jobs.flatMap(({ output }) => (output === null ? [] : [output.key as string])).sort();
    }

    async function sweep(): Promise<void> {
      const { batches, store, stored, clock } = api.domain;
      await endBatchRetention({ batches: batches.store, store, stored, outputs: api.outputs }, clock.now());
      await endRetention({ history: store.history, stored }, api.outputs, clock.now());
    }

    async function batchOf(count: number, expiresInHours: number): Promise<string> {
      const items = Array.from({ length: count }, (_, i) => ({ id: `item-${i}`, html: `<p>${i}</p>` }));
      const { jobId } = (await caller.post('/v1/pdf/batch', { items, expiresInHours })).json;
      const ended = async () => (await caller.get(`/v1/pdf/batch/${jobId}`)).json.finishedAt !== null;
      await eventually('it has ended', ended);
      await api.domain.flush();
      return jobId;
    }

    it('are the same while retention goes on, and after it has ended for each, one by one', async () => {
      await batchOf(60, 1);
      await batchOf(5, 5);
      await caller.completed();
      await api.domain.flush();
      assert.equal((await stored()).length, 59 + 4 + 1);
      for (const [hours, left] of [
        [0.5, 64],
        [1.6, 5],
        [4, 1],
      ] as const) {
        api.domain.clock.pass(hours * HOUR_MS);
        await sweep();
        assert.deepEqual(await stored(), await known(), `after ${hours} more hours`);
        assert.equal((await stored()).length, left, `after ${hours} more hours`);
      }
    });

    it('are the same when no sweep has run for a day, and a dead attempt has left a PDF that no job knows of', async () => {
      const batchId = await batchOf(60, 1);
      const { expiresAt } = (await caller.get(`/v1/pdf/batch/${batchId}`)).json;
      const lost = outputKey('a-job-whose-worker-lost-its-lease', 7, new Date(expiresAt));
      await api.outputs.put(lost, Buffer.alloc(3_000_000, 1));
      const kept = await batchOf(5, 100);
      api.domain.clock.pass(DAY_MS + 2 * HOUR_MS);
      await sweep();
      assert.deepEqual(await stored(), await known());
      assert.equal((await stored()).length, 4);
      assert.equal((await caller.get(`/v1/pdf/batch/${batchId}/zip`)).status, 410);
      assert.equal((await caller.get(`/v1/pdf/batch/${kept}/zip`)).status, 200);
    });
  });
}
