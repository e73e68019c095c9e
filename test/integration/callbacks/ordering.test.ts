import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { deliveryIdOf } from '../../../src/work/callbacks/delivery.ts';
import { endEarly } from '../../../src/work/jobs/end-early.ts';
import { type FollowUpStep, JobFollowUp } from '../../../src/work/jobs/job-follow-up.ts';
import { repairInterruptedJobs } from '../../../src/work/jobs/sweeps/interrupted-jobs.ts';
import { newJob, useDomain } from '../../support/domain.ts';
import { Killed } from '../batches/support.ts';

const WEBHOOK_URL = 'https://callbacks.test/hook';
const ALL = { limit: 100, offset: 0, newestFirst: true } as const;

describe('The callback of a render whose follower is killed', () => {
  const domain = useDomain();

  /** A sweep, after the follower of the end has gone silent. */
  const repair = async () => {
    domain.clock.pass(60_000);
    const deps = { redeliveryMs: 5000, retryBaseMs: 1000, random: () => 1, onRetried: () => undefined };
    await repairInterruptedJobs({ ...domain, ...deps }, await domain.ledger.active());
    await domain.flush();
  };

  for (const when of ['before', 'after'] as const) {
    it(`is scheduled once, when the follower dies right ${when} scheduling it`, async () => {
      const accountId = randomUUID();
      const { step, deliveries } = domain.callbacks;
      let deaths = 0;
      const dying: FollowUpStep = {
        name: step.name,
        async run(jobs) {
          if (when === 'after' && deaths === 0) await step.run(jobs);
          deaths += 1;
          throw new Killed();
        },
      };
      const followUp = new JobFollowUp({
        ...domain,
        logger: pino({ level: 'silent' }),
        observe: () => undefined,
        furtherSteps: [dying],
      });
      const ordered = newJob(accountId, { webhookUrl: WEBHOOK_URL });
      await domain.admit(ordered);
      const job = (await domain.store.live.find(ordered.job._id))!;
      await endEarly({ ...domain, followUp }, [job]);
      await followUp.flush();
      assert.ok(deaths > 0);
      const early = await deliveries.list(accountId, ALL);
      assert.equal(early.total, when === 'after' ? 1 : 0);
      await repair();
      await repair();
      const { total, deliveries: found } = await deliveries.list(accountId, ALL);
      assert.equal(total, 1);
      assert.equal(found[0]!._id, deliveryIdOf(job._id));
      const { event, status, error } = found[0]!.payload;
      assert.deepEqual([event, status, error?.code], ['render.failed', 'cancelled', 'CANCELLED']);
      assert.equal(
        (await domain.ledger.find(accountId))?.ending?.[job._id],
        undefined,
        'it has been followed up',
      );
    });
  }
});
