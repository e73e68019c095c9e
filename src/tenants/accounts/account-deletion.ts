import { namedUuid } from '../../infra/ids/named-uuid.ts';
import { DueWork } from '../../infra/store/due-work.ts';
import type { Account } from './account-store.ts';
import type { DeletionStore, NotedDeletion } from './deletion-store.ts';
import type { Stores } from './stores.ts';

/** Ends or deletes what an account has, of one kind. Repeated, it continues, and does so with what was added since. */
export interface DeletionWork {
  readonly name: string;
  /** @returns false when something is left that has to end first, or that the next call deletes. */
  run(accountId: string): Promise<boolean>;
}

interface AccountDeletionDeps extends Pick<Stores, 'accounts' | 'audit' | 'clock' | 'logger'> {
  readonly deletions: DeletionStore;
  /** Why the payment provider does not allow the deletion at present. */
  readonly hindrance: (accountId: string) => Promise<string | undefined>;
  readonly steps: readonly DeletionWork[];
}

/**
 * How long after its beginning a deletion is finished at the earliest, in milliseconds. Requests that were authenticated
 * before may be admitted within a second after it, and take a while until their work is there.
 */
const QUIET_MS = 60_000;
/** After this time a deletion that was noted and has never begun is forgotten, in milliseconds. */
const GIVEN_UP_MS = 600_000;
/** Milliseconds until a step is repeated that waits for work to end. */
const WAIT_MS = 1000;
/** Deletions of one sweep. */
const PER_QUERY = 5;

/**
 * Deletes accounts that are marked as being deleted, with all that they have:
 *
 *    1 note    a record that is due, in case the process dies that asks for the deletion
 *    2 mark    one update of the account: it is suspended from then on, for good
 *    3 delete  its work is ended, then all its records are deleted, step by step
 *    4 repeat  a minute after 2, for the requests that were under way at 2; then the account itself is deleted
 *
 * The process that is asked does 1 and 2, this sweep 3 and 4. No step notes how far it has come: each looks for what is
 * there. So a sweep continues after a crash, and two at once do no harm.
 */
export class AccountDeletion {
  readonly #deps: AccountDeletionDeps;

  constructor(deps: AccountDeletionDeps) {
    this.#deps = deps;
  }

  /** Continues the deletions that are due. @returns how many accounts are gone now. */
  async sweep(): Promise<number> {
    const { deletions, logger } = this.#deps;
    const due = new DueWork({
      queue: deletions,
      perQuery: PER_QUERY,
      renews: true,
      attempt: (claimed) => this.#continue(claimed),
      async onError(error, claimed) {
        logger.error({ err: error, accountId: claimed._id }, 'the deletion of an account is tried again');
        await deletions.retryLater(claimed);
        return false;
      },
    });
    return (await due.pass()).filter(Boolean).length;
  }

  /** @returns whether the account is gone by this call. */
  async #continue(claimed: NotedDeletion): Promise<boolean> {
    const { accounts, deletions, hindrance, steps, clock, logger } = this.#deps;
    const { _id: accountId, notedAt } = claimed;
    const account = await accounts.findNow(accountId);
    if (account !== undefined && account.deletingSince === undefined) {
      // The process that has noted it may still be about to mark the account.
      if (clock.now().getTime() - notedAt.getTime() > GIVEN_UP_MS) await deletions.remove(claimed);
      else await deletions.retryLater(claimed);
      return false;
    }
    const reason = account && (await hindrance(accountId));
    if (reason !== undefined) {
      logger.warn({ accountId, reason }, 'an account cannot be deleted yet');
      await deletions.retryLater(claimed);
      return false;
    }
    let isDone = true;
    for (const { run } of steps) {
      isDone = await run(accountId);
      if (!isDone) break;
    }
    const quietAt = quietAtOf(account);
    if (!isDone || quietAt > clock.now()) {
      const dueAt = isDone ? quietAt : new Date(clock.now().getTime() + WAIT_MS);
      await deletions.postpone(claimed, dueAt, { $unset: { failures: '' } });
      return false;
    }
    return this.#finish(claimed);
  }

  async #finish(claimed: NotedDeletion): Promise<boolean> {
    const { accounts, deletions, audit, logger } = this.#deps;
    const { _id: accountId, notedAt, by } = claimed;
    // Before the account: afterwards nothing would lead to an entry that is missing.
    await audit.recordDeletion(namedUuid(accountId, `deleted:${notedAt.toISOString()}`), accountId, by);
    const isGone = await accounts.deleteMarked(accountId);
    await deletions.remove(claimed);
    logger.info({ accountId }, 'an account is deleted');
    return isGone;
  }
}

function quietAtOf(account: Account | undefined): Date {
  return new Date((account?.deletingSince?.getTime() ?? 0) + QUIET_MS);
}
