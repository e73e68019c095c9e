import { LRUCache } from 'lru-cache';
import type { Clock } from '../../infra/clock.ts';
import { QUOTA_PERCENTS } from '../../tenants/notifications/thresholds.ts';
import type { NamedPlan } from '../../tenants/plans/plan.ts';
import type { Job } from '../jobs/job.ts';
import type { Ledger } from '../jobs/ledger/ledger.ts';
import type { AlertStore } from './alert-store.ts';

interface NoticeEndsDeps {
  readonly alerts: AlertStore;
  readonly ledger: Pick<Ledger, 'quotaUsed' | 'usedLately'>;
  readonly planOf: (accountId: string) => Promise<NamedPlan>;
  readonly clock: Clock;
}

/** What this process knows of the use of a quota. */
interface KnownUse {
  readonly quota: number;
  /** The percentage that was noticed; 0 for none. */
  readonly percent: number;
  /** The use at which the next percentage is reached. */
  readonly nextAt: number;
  /** Epoch milliseconds: until then nothing is looked up below that. */
  readonly until: number;
}

/** How long after a notice an account is looked at where more of the same may follow, in milliseconds. */
const GATHER_MS = 60_000;
/** For less than that: what ends after a notice is looked at with it, or is noticed itself. */
const NOTICED_MS = 45_000;
/** How long a process does without the plan of an account, in milliseconds: it may have another. */
const PLAN_MS = 600_000;
const REMEMBERED_ACCOUNTS = 10_000;

/**
 * Notices, as jobs end, whose alerts are to be looked at. It costs the database nothing while an account stays below the
 * next percentage of its quota and its renders succeed; otherwise one statement, at most once a minute. As a step that
 * follows the end of jobs it is repeated after a crash.
 */
export class NoticeEnds {
  readonly #deps: NoticeEndsDeps;
  /** By account and period. */
  readonly #known = new LRUCache<string, KnownUse>({ max: REMEMBERED_ACCOUNTS });
  /** Accounts and until when nothing more of them is noticed, epoch milliseconds. */
  readonly #usedUp = new LRUCache<string, number>({ max: REMEMBERED_ACCOUNTS });
  readonly #failing = new LRUCache<string, number>({ max: REMEMBERED_ACCOUNTS });

  constructor(deps: NoticeEndsDeps) {
    this.#deps = deps;
  }

  /**
   * A used-up quota has rejected a submission: nothing may have ended since it was made smaller. Never fails, and costs one
   * statement in 10 minutes and account.
   */
  usedUp(accountId: string): void {
    const { alerts, clock } = this.#deps;
    const now = clock.now();
    if ((this.#usedUp.get(accountId) ?? 0) > now.getTime()) return;
    this.#usedUp.set(accountId, now.getTime() + PLAN_MS);
    alerts.notice([{ accountId, dueAt: now }]).catch(() => this.#usedUp.delete(accountId));
  }

  async run(jobs: readonly Job[]): Promise<void> {
    const now = this.#deps.clock.now();
    const later = new Date(now.getTime() + GATHER_MS);
    const notices: Parameters<AlertStore['notice']>[0][number][] = [];
    /** What this process remembers once the notices are durable. */
    const done: (() => void)[] = [];
    for (const [accountId, own] of Map.groupBy(jobs, (job) => job.accountId)) {
      const use = await this.#useOf(accountId, own, now);
      if (use !== undefined) {
        notices.push({ accountId, dueAt: use.isBeyond ? later : now });
        done.push(use.remember);
      }
      const ends = own.flatMap(({ state, completedAt, updatedAt }) =>
        state === 'failed' ? [(completedAt ?? updatedAt).getTime()] : [],
      );
      if (ends.length > 0 && (this.#failing.get(accountId) ?? 0) <= now.getTime()) {
        const failedAt = new Date(Math.max(...ends));
        notices.push({ accountId, dueAt: later, update: { $max: { failedAt } } });
        done.push(() => this.#failing.set(accountId, now.getTime() + NOTICED_MS));
      }
    }
    if (notices.length === 0) return;
    await this.#deps.alerts.notice(notices);
    for (const remember of done) remember();
  }

  /** @returns undefined while the account has not reached the next percentage of its quota. */
  async #useOf(accountId: string, jobs: readonly Job[], now: Date) {
    const { ledger, planOf } = this.#deps;
    const period = jobs.find(({ test, quotaPeriod }) => !test && quotaPeriod !== null)?.quotaPeriod;
    if (period == null) return undefined;
    const key = `${accountId}:${period}`;
    const used = ledger.usedLately(accountId, period) ?? (await ledger.quotaUsed(accountId, period));
    const known = this.#known.get(key);
    if (known !== undefined && used < known.nextAt && now.getTime() < known.until) return undefined;
    const quota = (await planOf(accountId)).plan.monthlyRenders;
    // Beyond the quota blocks are used, whose number only the ledger has.
    const isBeyond = used > quota;
    const marks = QUOTA_PERCENTS.map((one) => Math.ceil((one * quota) / 100));
    const percent = QUOTA_PERCENTS.findLast((_, i) => used >= marks[i]!) ?? 0;
    const nextAt = [...marks, quota + 1].find((mark) => mark > used) ?? Number.POSITIVE_INFINITY;
    const until = now.getTime() + (isBeyond ? NOTICED_MS : PLAN_MS);
    const remember = () => this.#known.set(key, { quota, percent, nextAt, until });
    const isNew = isBeyond || (percent > 0 && (known?.percent !== percent || known.quota !== quota));
    if (isNew) return { isBeyond, remember };
    remember();
    return undefined;
  }
}
