import { DueWork } from '../../infra/store/due-work.ts';
import type { DoneBy } from '../audit/audit-log.ts';
import type { AccountService } from './account-service.ts';
import type { Account } from './account-store.ts';
import type { Stores } from './stores.ts';
import type { Takeover, TakeoverStore, TakeoverSubject } from './takeover-store.ts';

/** Ends what an earlier owner of an account has begun, of one kind. Repeated, it ends what has been added since. */
export interface TakeoverStep {
  readonly subject: TakeoverSubject;
  /** Whether it only counts what is kept. */
  readonly keeps?: true;
  /** @returns how much this call has ended, or has found. */
  run(accountId: string, ownerFence: number, by: DoneBy): Promise<number>;
}

interface AccountTakeoverDeps extends Pick<Stores, 'accounts' | 'outbox' | 'audit' | 'clock' | 'logger'> {
  readonly accountService: AccountService;
  readonly takeovers: TakeoverStore;
  /** In the order in which they run. */
  readonly steps: readonly TakeoverStep[];
}

/**
 * How long after a takeover it is carried out once more, in milliseconds. Requests that were authenticated before it
 * may be admitted within a second after it, and take a while until their work is there.
 */
const AGAIN_MS = 60_000;
/** After this time a takeover that was noted and never happened is forgotten, in milliseconds. */
const GIVEN_UP_MS = 600_000;
/** Takeovers of one sweep. */
const PER_QUERY = 20;

/**
 * Gives an account to the owner of its address, when somebody else may have registered it: what was made with it before
 * must not serve that person any more.
 *
 *    1 note      a record that is due, in case this process dies
 *    2 take over one update of the account: its password, its address, and a higher owner fence, below which no token,
 *                API key, signing key, work or callback is valid any more
 *    3 carry out keys are revoked and work is cancelled, step by step; the owner gets a mail with the counts
 *    4 repeat    a minute later, for the requests that were under way at 2
 *
 * Nothing gives access after 2. A sweep continues with 3 and 4 after a crash.
 */
export class AccountTakeover {
  readonly #deps: AccountTakeoverDeps;

  constructor(deps: AccountTakeoverDeps) {
    this.#deps = deps;
  }

  /**
   * Takes an account over, and ends what was made before. Resolves when nothing made before gives access any more, and
   * usually everything has ended.
   *
   * @returns false when another request has taken the account over at the same moment.
   */
  async takeOver(seen: Account, password: string, by: DoneBy): Promise<boolean> {
    if (!(await this.#begin(seen, password, by))) return false;
    const { takeovers, logger } = this.#deps;
    try {
      const noted = await takeovers.find(seen._id);
      const claimed = noted && (await takeovers.claim(noted));
      if (claimed !== undefined) await this.#carryOut(claimed);
    } catch (error) {
      logger.error({ err: error, accountId: seen._id }, 'a takeover is left to a sweep');
    }
    return true;
  }

  /** Takes an account over; a sweep ends what was made before. @returns false as `takeOver`. */
  async begin(seen: Account, password: string, by: DoneBy): Promise<boolean> {
    const { takeovers, clock } = this.#deps;
    const isTaken = await this.#begin(seen, password, by);
    if (isTaken) await takeovers.schedule(seen._id, clock.now());
    return isTaken;
  }

  /** Continues the takeovers that are due. @returns how many were left by another process. */
  async sweep(): Promise<number> {
    const due = new DueWork({
      queue: this.#deps.takeovers,
      perQuery: PER_QUERY,
      attempt: async (claimed) => {
        await this.#carryOut(claimed);
        return claimed.reported === undefined;
      },
    });
    return (await due.pass()).filter(Boolean).length;
  }

  async #begin(seen: Account, password: string, by: DoneBy): Promise<boolean> {
    const { takeovers, accountService } = this.#deps;
    // First, because nobody would find a takeover that is not noted.
    await takeovers.begin(seen._id, (seen.ownerFence ?? 0) + 1, by);
    return accountService.takeOver(seen, password, by);
  }

  async #carryOut(claimed: Takeover): Promise<void> {
    const { accounts, takeovers, steps, clock } = this.#deps;
    const { _id, ownerFence, by } = claimed;
    const sinceMs = clock.now().getTime() - claimed.startedAt.getTime();
    const account = await accounts.findNow(_id);
    if ((account?.ownerFence ?? 0) < ownerFence) {
      // The process that has noted it may still be about to begin.
      if (sinceMs > GIVEN_UP_MS) await takeovers.remove(claimed);
      else await takeovers.retryLater(claimed);
      return;
    }
    await takeovers.holding(claimed, async () => {
      for (const { subject, keeps = false, run } of steps) {
        const count = await run(_id, ownerFence, by);
        if (count > 0) await takeovers.count(_id, subject, count, keeps);
      }
      if (claimed.reported === undefined) await this.#report(account!, claimed);
    });
    const reported = { $set: { reported: true } } as const;
    if (sinceMs >= AGAIN_MS) await takeovers.remove(claimed);
    else await takeovers.postpone(claimed, new Date(claimed.startedAt.getTime() + AGAIN_MS), reported);
  }

  /** Notifies the owner: by mail, unless the operator has acted, and in the audit log. */
  async #report({ _id: accountId, email }: Account, { ownerFence, by }: Takeover): Promise<void> {
    const { takeovers, outbox, audit } = this.#deps;
    const { counts = {} } = (await takeovers.find(accountId)) ?? {};
    if (email !== null && by.actor !== 'operator') {
      const id = `account-taken-over:${accountId}:${ownerFence}`;
      await outbox.enqueue({ id, accountId, to: email, kind: 'account-taken-over', values: counts });
    }
    const details = Object.fromEntries(
      Object.entries(counts).map(([subject, count]) => [subject, `${count}`]),
    );
    await audit.record({ accountId, action: 'account.taken_over', ...by, details });
  }
}
