import type { AccountFilter, FairQueue } from './fair-queue.ts';
import type { Usage } from './virtual-time.ts';

/**
 * Filters for the spare permit, which exists while accounts with slow work hold every other permit. Accounts that hold
 * no permit and are not slow may get it; accounts whose last work was quick come first.
 *
 * @param pace classifies accounts as slow or quick. Default: the queue's own usage.
 */
export function spareFilters(
  queue: FairQueue,
  pace: Pick<Usage, 'isSlow' | 'isQuick'> = queue.usage,
): readonly AccountFilter[] {
  const mayHave = (account: string) => queue.heldBy(account) === 0 && !pace.isSlow(account);
  return [(account) => mayHave(account) && pace.isQuick(account), mayHave];
}
