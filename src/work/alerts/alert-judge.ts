import type { Core } from '../../infra/core.ts';
import type { Update } from '../../infra/store/collection.ts';
import { DueWork } from '../../infra/store/due-work.ts';
import type { Account } from '../../tenants/accounts/account.ts';
import type { NewMail } from '../../tenants/mail/mail.ts';
import type { Thresholds } from '../../tenants/notifications/thresholds.ts';
import type { Tenants } from '../../tenants/open-tenants.ts';
import type { NamedPlan } from '../../tenants/plans/plan.ts';
import { quotaPeriod, quotaResetDate } from '../../tenants/plans/quota-period.ts';
import { dayOf } from '../../tenants/usage/periods.ts';
import type { UsageCounters } from '../../tenants/usage/usage-counters.ts';
import type { Jobs } from '../jobs/open-jobs.ts';
import type { AlertRecord, FailingAddress, Told } from './alert-record.ts';
import type { AlertStore } from './alert-store.ts';
import { hourOf, judgeFailures } from './judge-failures.ts';
import { judgeQuota, judgeSpend, quotaUse } from './judge-quota.ts';
import { judgeAddress } from './judge-webhooks.ts';

export interface AlertJudgeDeps
  extends Pick<Jobs, 'blockLedger'>,
    Pick<Core, 'clock' | 'logger'>,
    Pick<Tenants, 'notifications' | 'outbox' | 'accounts'> {
  readonly alerts: AlertStore;
  readonly planOf: (accountId: string) => Promise<NamedPlan>;
  readonly counters: Pick<UsageCounters, 'endsOf'>;
  /** Whether the installation sells plans and blocks. */
  readonly sells: boolean;
}

/** What was found of one subject. */
interface Found {
  readonly update?: Pick<Update<AlertRecord>, '$set' | '$unset'>;
  readonly tell?: readonly Told[];
  /** When to look again; absent when a notice will come first. */
  readonly dueAt?: Date | undefined;
}

/** Records that one query finds, and how many of them are judged at a time. */
const PER_QUERY = 50;
const AT_ONCE = 4;
/** Alerts of an account in a day (UTC): addresses that fail and work again all the time must not fill mailboxes. */
const MOST_A_DAY = 20;
const MOST_CODES = 5;
const HOUR_MS = 3_600_000;

/**
 * Judges the accounts that something was noticed of, and mails their people:
 *
 *     notice ─→ due ─claim→ judge ─note→ told, with the mails in the record ─→ the mails in the outbox ─→ (at rest)
 *
 * One update says what was told and keeps the mails of it. Of two dispatchers that judge the same one has the claim; after
 * a crash the next one finds the mails in the record, and a mail that is in the outbox is not added again.
 */
export class AlertJudge {
  readonly #deps: AlertJudgeDeps;
  readonly #due: DueWork<AlertRecord>;

  constructor(deps: AlertJudgeDeps) {
    this.#deps = deps;
    const { alerts, logger } = deps;
    this.#due = new DueWork({
      queue: alerts,
      perQuery: PER_QUERY,
      atOnce: AT_ONCE,
      attempt: (record) => this.#judge(record),
      onError: async (err, record) => {
        logger.warn({ err, accountId: record._id }, 'alerts are judged later');
        await alerts.retryLater(record);
      },
    });
  }

  /** @returns how many accounts were judged. */
  async sweep(): Promise<number> {
    return (await this.#due.pass()).length;
  }

  async #judge(record: AlertRecord): Promise<void> {
    const { alerts, accounts, notifications, clock } = this.#deps;
    const account = await accounts.find(record._id);
    if (account === undefined || account.deletingSince !== undefined) {
      await alerts.remove(record);
      return;
    }
    const now = clock.now();
    const thresholds = await notifications.thresholdsOf(record._id);
    const found = await Promise.all([
      this.#quota(record, account, thresholds, now),
      this.#failures(record, thresholds, now),
      this.#webhooks(record, thresholds, now),
    ]);
    const told = found.flatMap(({ tell = [] }) => tell);
    const sentToday = record.sent?.day === dayOf(now) ? record.sent.count : 0;
    const mailed = told.slice(0, Math.max(0, MOST_A_DAY - sentToday));
    const untold = [...(record.untold ?? []), ...mailed];
    const $unset = Object.assign({ failures: '' as const }, ...found.map(({ update }) => update?.$unset));
    const $set = Object.assign({}, ...found.map(({ update }) => update?.$set));
    if (mailed.length > 0) {
      const sent = { day: dayOf(now), count: sentToday + mailed.length };
      if (!(await alerts.note(record, { $unset, $set: { ...$set, sent, untold } }))) return;
    }
    for (const alert of untold) await this.#mail(account, alert);
    const dues = found.flatMap(({ dueAt }) => (dueAt === undefined ? [] : [dueAt.getTime()]));
    if (record.lookAt !== undefined && record.lookAt > now) dues.push(record.lookAt.getTime());
    const dueAt = dues.length === 0 ? undefined : new Date(Math.min(...dues));
    await alerts.judged(record, dueAt, { $set, $unset: { ...$unset, untold: '' } });
  }

  async #mail(account: Account, { about, name, ...content }: Told): Promise<void> {
    const { notifications, outbox } = this.#deps;
    for (const { personId, email } of await notifications.recipients(account, about)) {
      const id = `${account._id}:${name}:${personId}`;
      const mail = { id, accountId: account._id, to: email, ...content, unsubscribe: { personId, about } };
      await outbox.enqueue(mail as NewMail);
    }
  }

  async #quota(
    record: AlertRecord,
    account: Account,
    { quotaPercents }: Thresholds,
    now: Date,
  ): Promise<Found> {
    const { planOf, blockLedger, sells } = this.#deps;
    const { plan } = await planOf(account._id);
    const period = quotaPeriod(now, account.quotaWindow);
    const ledger = await blockLedger.counted(account._id, period, plan.monthlyRenders);
    const use = quotaUse(ledger, period, plan.monthlyRenders, now);
    const quota = judgeQuota(record.quota, use, quotaPercents);
    const { percent, used, limit } = quota.state;
    const tell: Told[] = [];
    if (quota.tells)
      tell.push({
        about: 'quota',
        name: `quota-alert:${period}:${limit}:${percent}`,
        kind: 'quota-alert',
        values: {
          ...{ percent, used, limit, sells },
          renews: quotaResetDate(now, account.quotaWindow).toISOString(),
          beyond: use.buys ? 'bought' : 'rejected',
        },
      });
    const { overage } = ledger ?? {};
    if (overage?.enabled !== true) return { update: { $set: { quota: quota.state } }, tell };
    const spend = judgeSpend(record.spend, overage, quotaPercents);
    const { cycle, spentCents, capCents } = spend.state;
    if (spend.tells)
      tell.push({
        about: 'spend',
        name: `spend-alert:${cycle}:${capCents}:${spend.state.percent}`,
        kind: 'spend-alert',
        values: { percent: spend.state.percent, spentCents, capCents },
      });
    return { update: { $set: { quota: quota.state, spend: spend.state } }, tell };
  }

  async #failures(
    { _id, failing, failedAt }: AlertRecord,
    thresholds: Thresholds,
    now: Date,
  ): Promise<Found> {
    const present = hourOf(now);
    const hours = [present, new Date(present.getTime() - HOUR_MS)];
    if (failing?.now === undefined && (failedAt === undefined || failedAt < hours[1]!)) return {};
    const ends = await this.#deps.counters.endsOf(_id, hours);
    const counted = ends.map((end, i) => ({
      hour: hours[i]!,
      ...end,
      codes: end.codes.slice(0, MOST_CODES),
    }));
    const { state, tells, dueAt } = judgeFailures(failing, counted, thresholds, now);
    const tell: Told[] = [];
    if (tells && state?.now !== undefined) {
      const { hour, ...counts } = state.now;
      tell.push({
        about: 'failures',
        name: `failure-alert:${hour.toISOString()}`,
        kind: 'failure-alert',
        values: { hour: hour.toISOString(), ...counts },
      });
    }
    return { tell, dueAt, update: state === undefined ? {} : { $set: { failing: state } } };
  }

  async #webhooks(
    { webhooks = {} }: AlertRecord,
    { webhookFailures }: Thresholds,
    now: Date,
  ): Promise<Found> {
    const tell: Told[] = [];
    const $set: Record<string, Date> = {};
    const $unset: Record<string, ''> = {};
    const dues: number[] = [];
    for (const [key, address] of Object.entries(webhooks)) {
      const { verdict, dueAt } = judgeAddress(address, webhookFailures, now);
      if (verdict === 'tell') {
        $set[`webhooks.${key}.toldAt`] = now;
        tell.push(failingMail(key, address));
      }
      if (verdict === 'recovered') tell.push(recoveredMail(key, address));
      if (verdict === 'recovered' || verdict === 'forget') $unset[`webhooks.${key}`] = '';
      else dues.push(dueAt.getTime());
    }
    const dueAt = dues.length === 0 ? undefined : new Date(Math.min(...dues));
    return { tell, dueAt, update: { $set: $set as NonNullable<Update<AlertRecord>['$set']>, $unset } };
  }
}

function failingMail(key: string, { url, since, failures, status, error, nextAt }: FailingAddress): Told {
  return {
    about: 'webhooks',
    name: `webhook-alert:${key}:${since.getTime()}`,
    kind: 'webhook-alert',
    values: {
      ...{ url, failures, since: since.toISOString() },
      outcome: error ?? `Status ${status}`,
      nextAt: nextAt?.toISOString() ?? null,
    },
  };
}

function recoveredMail(key: string, { url, since, arrivedAt }: FailingAddress): Told {
  return {
    about: 'webhooks',
    name: `webhook-recovered:${key}:${since.getTime()}`,
    kind: 'webhook-recovered',
    values: { url, since: since.toISOString(), at: (arrivedAt ?? since).toISOString() },
  };
}
