import type { Clock } from '../../../infra/clock.ts';
import type { Collection, Update } from '../../../infra/store/collection.ts';
import { DueQueue } from '../../../infra/store/due-queue.ts';
import type { LedgerRecord } from './ledger-record.ts';

/** Milliseconds after a change by which a sweep looks at a ledger; usually the account is at rest again by then. */
export const CHECK_AFTER_MS = 5000;
/** The latest that a sweep looks again at a ledger that is not at rest, in milliseconds. */
export const RECHECK_MS = 60_000;

/**
 * What every change of slots and waiting jobs notes as well. So whichever step a process dies after, the ledger is due a
 * moment later, and whoever measures the demand finds it among those that have changed.
 */
export function noted(now: Date): Required<Pick<Update<LedgerRecord>, '$min' | '$currentDate'>> {
  return {
    $min: { dueAt: new Date(now.getTime() + CHECK_AFTER_MS) },
    $currentDate: { changedAt: true },
  };
}

/** The ledgers in which something may be overdue, each checked by one sweep at a time. */
export class DueLedgers extends DueQueue<LedgerRecord> {
  constructor(records: Collection<LedgerRecord>, clock: Clock) {
    super(records, clock, { longestMs: RECHECK_MS, reads: { dueAt: 1, fence: 1 } });
  }

  /** Ends a claim; the ledger is due at this time, unless it has changed since it was claimed. */
  checked(claimed: LedgerRecord, dueAt: Date): Promise<boolean> {
    return this.endClaim(claimed, dueAt, {}, { revision: claimed.revision });
  }

  /**
   * Makes ledgers due now that are not at rest and have no time: those that an older version of Platen has written.
   *
   * @returns how many there were.
   */
  dateUndated(): Promise<number> {
    const undated = { active: true, dueAt: { $exists: false } } as const;
    return this.records.updateMany(undated, { $min: { dueAt: this.clock.now() } });
  }
}
