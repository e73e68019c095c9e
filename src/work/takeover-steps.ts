import type { TakeoverStep } from '../tenants/accounts/account-takeover.ts';
import type { TakenOver } from '../tenants/open-tenants.ts';
import { cancelJobsBelowFence } from './jobs/cancel-below-fence.ts';
import type { Work } from './open-work.ts';

/**
 * What becomes of the records of an account that is taken over. Keys come first, so that nothing is requested with them
 * that a later step would miss. Templates are kept: most accounts are taken over by whoever has saved them and has
 * forgotten the password.
 */
export function takeoverSteps(
  { jobs, batches, callbacks }: Pick<Work, 'jobs' | 'batches' | 'callbacks'>,
  { keyService, templates }: TakenOver,
): readonly TakeoverStep[] {
  return [
    { subject: 'apiKeys', run: (accountId, fence, by) => keyService.revokeBefore(accountId, fence, by) },
    { subject: 'signingKeys', run: (accountId, fence) => callbacks.keys.endBefore(accountId, fence) },
    // The batches before their jobs: a batch that is being expanded gets no more of them.
    { subject: 'batches', run: (accountId, fence) => batches.store.cancelBefore(accountId, fence) },
    { subject: 'renders', run: (accountId, fence) => cancelJobsBelowFence(jobs, accountId, fence) },
    {
      subject: 'callbacks',
      async run(accountId, fence) {
        const { deliveries, uploads } = callbacks;
        return (
          (await deliveries.hastenBefore(accountId, fence)) + (await uploads.hastenBefore(accountId, fence))
        );
      },
    },
    {
      subject: 'templates',
      keeps: true,
      run: async (accountId) => (await templates.summaries(accountId, { limit: 1, offset: 0 })).total,
    },
  ];
}
