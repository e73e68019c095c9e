import type { Connection } from 'mongoose';
import type { Clock } from '../infra/clock.ts';
import type { TakeoverStep } from '../tenants/accounts/account-takeover.ts';
import type { KeyService } from '../tenants/keys/key-service.ts';
import { TemplateStore } from '../tenants/templates/template-store.ts';
import { SigningKeys } from '../work/callbacks/signing-keys.ts';
import { cancelJobsBelowFence } from '../work/jobs/cancel-below-fence.ts';
import type { JobLife } from './job-life.ts';

interface TakeoverStepDeps extends JobLife {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly keyService: KeyService;
}

/**
 * What becomes of the records of an account that is taken over. Keys come first, so that nothing is requested with them
 * that a later step would miss. Templates are kept: most accounts are taken over by whoever has saved them and has
 * forgotten the password. To be created before the connection's indexes.
 */
export function takeoverSteps(deps: TakeoverStepDeps): readonly TakeoverStep[] {
  const { connection, clock, keyService, jobs, batchStore, callbacks } = deps;
  const signingKeys = new SigningKeys(connection, clock);
  const templates = new TemplateStore(connection, clock);
  return [
    { subject: 'apiKeys', run: (accountId, fence, by) => keyService.revokeBefore(accountId, fence, by) },
    { subject: 'signingKeys', run: (accountId, fence) => signingKeys.endBefore(accountId, fence) },
    // The batches before their jobs: a batch that is being expanded gets no more of them.
    { subject: 'batches', run: (accountId, fence) => batchStore.cancelBefore(accountId, fence) },
    { subject: 'renders', run: (accountId, fence) => cancelJobsBelowFence(jobs, accountId, fence) },
    { subject: 'callbacks', run: (accountId, fence) => callbacks.deliveries.hastenBefore(accountId, fence) },
    {
      subject: 'templates',
      keeps: true,
      run: async (accountId) => (await templates.summaries(accountId, { limit: 1, offset: 0 })).total,
    },
  ];
}
