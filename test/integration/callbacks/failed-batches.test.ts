import assert from 'node:assert/strict';
import { pino } from 'pino';
import { pendingAdmission } from '../../../src/infra/overload/pending-admission.ts';
import type { Batch } from '../../../src/work/batches/batch.ts';
import { BatchReconciler } from '../../../src/work/batches/batch-reconciler.ts';
import { EXPANDER_MS } from '../../../src/work/batches/expansion.ts';
import { useDomain } from '../../support/domain.ts';
import { batchOf, callerWith, Killed } from '../batches/support.ts';

const WEBHOOK_URL = 'https://callbacks.test/hook';
const ITEMS = 3;
const ALL = { limit: 100, offset: 0, newestFirst: true } as const;

describe('The callback of a batch that could not be run at all', () => {
  const domain = useDomain();

  /** A batch whose positions have been given back before its jobs are written, and whose expander is dead. */
  async function lost(): Promise<Batch> {
    const submission = { ...batchOf(ITEMS), webhookUrl: WEBHOOK_URL };
    const batch = await domain.batches.admission.admit(
      callerWith(domain.plan),
      submission,
      pendingAdmission(),
    );
    await domain.ledger.undoPositions(batch.accountId, batch._id, ITEMS, batch.quotaPeriod ?? undefined);
    domain.clock.pass(EXPANDER_MS);
    return batch;
  }

  const carer = (onFinished: (batch: Batch) => Promise<void>) =>
    new BatchReconciler({
      ...domain,
      batches: domain.batches.store,
      logger: pino({ level: 'silent' }),
      onFinished,
    });

  async function assertCalledBack({ _id, accountId }: Batch): Promise<void> {
    const { total, deliveries } = await domain.callbacks.deliveries.list(accountId, ALL);
    assert.equal(total, 1);
    const { event, status, jobId } = deliveries[0]!.payload;
    assert.deepEqual([event, status, jobId], ['batch.completed', 'failed', _id]);
    const { phase, busy } = (await domain.batches.store.find(_id))!;
    assert.deepEqual([phase, busy], ['failed', undefined], 'and it needs no reconciler any more');
  }

  it('is scheduled by the process that finds the failure', async () => {
    const batch = await lost();
    assert.equal(await domain.batches.reconciler.sweep(), 1);
    await assertCalledBack(batch);
    domain.clock.pass(EXPANDER_MS);
    assert.equal(await domain.batches.reconciler.sweep(), 0);
    await assertCalledBack(batch);
  });

  for (const when of ['before', 'after'] as const) {
    it(`is scheduled once, when that process dies right ${when} scheduling it`, async () => {
      const batch = await lost();
      const dying = carer(async (failed) => {
        if (when === 'after') await domain.callbacks.batchFinished(failed);
        throw new Killed();
      });
      await assert.rejects(dying.sweep(), Killed);
      const { total } = await domain.callbacks.deliveries.list(batch.accountId, ALL);
      assert.equal(total, when === 'after' ? 1 : 0);
      assert.equal(await domain.batches.reconciler.sweep(), 0, 'it is left to its holder');
      domain.clock.pass(EXPANDER_MS);
      assert.equal(await domain.batches.reconciler.sweep(), 1);
      await assertCalledBack(batch);
    });
  }
});
