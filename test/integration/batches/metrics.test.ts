import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { type Batch, chunkSizeOf } from '../../../src/work/batches/batch.ts';
import { documentsRead } from '../../support/documents-read.ts';
import { eventually } from '../../support/eventually.ts';
import { type TestCaller, useApi } from '../http/support/api.ts';
import { latch } from '../http/support/test-worker.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

describe('GET /user/batches/metrics', () => {
  const api = useApi({ plan: { concurrentRenders: 3 } });
  let caller: TestCaller;
  let bearer: Record<string, string>;

  beforeEach(async () => {
    caller = await api.newCaller();
    const { token } = await api.tenants.tokens.issue(caller.accountId);
    bearer = { authorization: `Bearer ${token}` };
    api.worker.render = async () => ({ pages: 1 });
  });

  async function metrics(period = '7d') {
    const response = await caller.call('GET', `/user/batches/metrics?period=${period}`, undefined, bearer);
    assert.equal(response.status, 200);
    return response.json;
  }

  async function start(ids: readonly string[]): Promise<string> {
    const items = ids.map((id) => ({ id, html: '<p>x</p>' }));
    return (await caller.post('/v1/pdf/batch', { items })).json.jobId;
  }

  const finished = (id: string) =>
    eventually(
      'it has ended',
      async () => (await caller.get(`/v1/pdf/batch/${id}`)).json.finishedAt !== null,
    );

  it('are nothing for an account without batches', async () => {
    const { generatedAt, ...rest } = await metrics('30d');
    assert.ok(Math.abs(Date.parse(generatedAt) - api.domain.clock.now().getTime()) < MINUTE_MS);
    assert.deepEqual(rest, {
      queueDepth: 0,
      activeBatches: 0,
      queuedBatches: 0,
      processingBatches: 0,
      completionRatePercent: 0,
      itemSuccessRatePercent: 0,
      itemEligibleCount: 0,
      webhookSuccessRatePercent: 0,
      webhookEligibleCount: 0,
      webhookDeliveredCount: 0,
      averageItemsPerBatch: 0,
      averageBatchProcessingTimeMs: 0,
      commonFailureReasons: [],
      lookbackDays: 30,
    });
  });

  it('are what became of batches that were rendered, cancelled or still run', async () => {
    const errors: Record<string, PlatenError> = {
      slow: new PlatenError('RENDER_TIMEOUT'),
      selector: new PlatenError('SELECTOR_TIMEOUT'),
      url: new PlatenError('INVALID_URL'),
    };
    const held = latch();
    let begun = 0;
    api.worker.render = async ({ item }) => {
      const fails = errors[item!.id.split('-')[0]!];
      if (fails !== undefined) return { fails };
      if (item!.id.startsWith('held')) {
        begun += 1;
        await held.opened;
      }
      return { pages: 1 };
    };
    await finished(await start(['a', 'b', 'slow-1', 'selector-1', 'url-1', 'c']));
    await finished(await start(['d', 'e']));
    const running = await start(['held-1', 'held-2', 'held-3', 'held-4', 'held-5']);
    // A slot of the plan alone is not enough: what has it and has not begun is cancelled as well.
    await eventually('three run', () => begun === 3);
    const seen = await metrics();
    assert.equal(seen.queueDepth, 2);
    assert.deepEqual([seen.activeBatches, seen.queuedBatches, seen.processingBatches], [1, 0, 1]);
    assert.deepEqual([seen.itemEligibleCount, seen.itemSuccessRatePercent], [8, 62.5]);
    assert.deepEqual(seen.commonFailureReasons, [
      { code: 'TIMEOUT', count: 2 },
      { code: 'INVALID_URL', count: 1 },
    ]);
    assert.deepEqual([seen.completionRatePercent, seen.averageItemsPerBatch], [100, 4.3]);
    await caller.delete(`/v1/pdf/batch/${running}`);
    // Or the slots of those that end would be theirs first.
    const cancelled = async () => (await caller.get(`/v1/pdf/batch/${running}`)).json.progress.failed;
    await eventually('those that wait are cancelled', async () => (await cancelled()) === 2);
    held.open();
    await finished(running);
    const after = await metrics();
    assert.deepEqual([after.queueDepth, after.activeBatches, after.completionRatePercent], [0, 0, 66.7]);
    // Three had begun and completed; those that were cancelled have not failed.
    assert.deepEqual([after.itemEligibleCount, after.commonFailureReasons], [11, seen.commonFailureReasons]);
    assert.ok(after.averageBatchProcessingTimeMs > 0 && after.averageBatchProcessingTimeMs < MINUTE_MS);
  });

  /** The record of a batch that ended long ago. */
  function record(createdAt: Date, total: number, fields: Partial<Batch> = {}): Batch {
    const finishedAt = new Date(createdAt.getTime() + 10 * MINUTE_MS);
    return {
      _id: randomUUID(),
      accountId: caller.accountId,
      apiKeyId: caller.apiKeyId,
      plan: 'professional',
      test: false,
      quotaPeriod: null,
      phase: 'completed',
      busyUntil: createdAt,
      total,
      chunkSize: chunkSizeOf(total),
      expanded: 1,
      firstPosition: 0,
      sharedParts: 0,
      recordBytes: 0,
      notes: '',
      metadata: {},
      webhookUrl: null,
      createdAt,
      updatedAt: finishedAt,
      cancelledAt: null,
      startedAt: new Date(createdAt.getTime() + 4 * MINUTE_MS),
      finishedAt,
      retentionHours: 1,
      expiresAt: finishedAt,
      tallies: { 0: { completed: total } },
      expectedSeconds: 1,
      ...fields,
    };
  }

  it('are right on a million items, and read no item', async () => {
    const { store } = api.domain.batches;
    const now = api.domain.clock.now().getTime();
    const total = 10_000;
    const chunks = Array.from({ length: 100 }, (_, chunk) => [
      chunk,
      { completed: 97, failed: 3, bytes: 97_000, codes: { RENDER_TIMEOUT: 2, URL_UNREACHABLE: 1 } },
    ]);
    for (let i = 0; i < 100; i += 1) {
      const callback = (['delivered', 'delivered', 'delivered', 'failed'] as const)[i % 4]!;
      const fields = { tallies: Object.fromEntries(chunks), callback, webhookUrl: 'https://example.com/' };
      await store.accept(record(new Date(now - 2 * DAY_MS + i), total, fields));
    }
    const seen = await metrics();
    assert.deepEqual(
      [seen.itemEligibleCount, seen.itemSuccessRatePercent, seen.averageItemsPerBatch],
      [1_000_000, 97, total],
    );
    assert.deepEqual(seen.commonFailureReasons, [
      { code: 'TIMEOUT', count: 20_000 },
      { code: 'URL_UNREACHABLE', count: 10_000 },
    ]);
    assert.deepEqual(
      [seen.webhookEligibleCount, seen.webhookDeliveredCount, seen.webhookSuccessRatePercent],
      [100, 75, 75],
    );
    assert.equal(seen.averageBatchProcessingTimeMs, 6 * MINUTE_MS);
    const read = await documentsRead(api.domain.connection, metrics);
    // Each of a hundred batches twice, and who asks; each has ten thousand items.
    assert.ok(read <= 210, `${read} documents`);
    assert.equal((await metrics('1d')).itemEligibleCount, 0, 'two days ago');
  });

  it('count every batch once, however many were made at the same moment', async () => {
    const { store } = api.domain.batches;
    const now = api.domain.clock.now().getTime();
    // Pages end within each of the two moments, and between them.
    for (let i = 0; i < 1300; i += 1) {
      await store.accept(record(new Date(now - (i < 700 ? 2000 : 1000)), i === 0 ? 3 : 2));
    }
    const seen = await metrics('1d');
    assert.deepEqual([seen.itemEligibleCount, seen.completionRatePercent], [2601, 100]);
  });
});
