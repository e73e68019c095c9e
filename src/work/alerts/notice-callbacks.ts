import { createHash } from 'node:crypto';
import { TtlCache } from '../../infra/async/ttl-cache.ts';
import { WriteBehind } from '../../infra/async/write-behind.ts';
import type { Clock } from '../../infra/clock.ts';
import type { Update } from '../../infra/store/collection.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';
import type { Delivery } from '../callbacks/delivery.ts';
import type { AttemptEnd } from '../callbacks/delivery-store.ts';
import { type AlertRecord, MAX_ADDRESS_CHARS, MAX_ADDRESSES } from './alert-record.ts';
import type { AlertStore } from './alert-store.ts';

/** An attempt to send a callback whose result is known. */
interface Attempted {
  readonly accountId: string;
  readonly key: string;
  readonly url: string;
  readonly end: AttemptEnd;
  readonly at: Date;
}

/** How late it may be known that another process has seen callbacks to an address fail, in milliseconds. */
const KNOWN_MS = 60_000;
const REMEMBERED_ACCOUNTS = 10_000;
/** A failing address is looked at so often while attempts fail, in milliseconds. */
const LOOK_AFTER_MS = 60_000;

/**
 * Notices whether callbacks arrive at an address. Attempts that succeed cost the database one read a minute and account;
 * those that fail one statement a second, for all accounts together.
 */
export class NoticeCallbacks {
  readonly #alerts: AlertStore;
  readonly #clock: Clock;
  /** By account, the keys of its failing addresses. */
  readonly #failing: TtlCache<string, Set<string>>;
  readonly #attempts: WriteBehind<Attempted>;

  constructor(deps: { readonly alerts: AlertStore; readonly clock: Clock; readonly logger: Logger }) {
    this.#alerts = deps.alerts;
    this.#clock = deps.clock;
    this.#failing = new TtlCache(KNOWN_MS, REMEMBERED_ACCOUNTS, deps.clock);
    this.#attempts = new WriteBehind((batch) => this.#write(batch), deps.logger);
  }

  /** Written within a second; never fails. */
  note({ accountId, url }: Pick<Delivery, 'accountId' | 'url'>, end: AttemptEnd): void {
    const address = addressOf(url);
    this.#attempts.add({ accountId, url: address, key: addressKey(address), end, at: this.#clock.now() });
  }

  flush(): Promise<void> {
    return this.#attempts.flush();
  }

  async #write(batch: readonly Attempted[]): Promise<void> {
    const notices: Parameters<AlertStore['notice']>[0][number][] = [];
    for (const [accountId, own] of Map.groupBy(batch, (attempt) => attempt.accountId)) {
      const failing = await this.#failing.get(accountId, async () => {
        const found = await this.#alerts.find(accountId);
        return new Set(Object.keys(found?.webhooks ?? {}));
      });
      for (const [key, attempts] of Map.groupBy(own, (attempt) => attempt.key)) {
        const arrived = attempts.findLastIndex(({ end }) => end.state === 'delivered');
        if (arrived >= 0 && failing.has(key)) {
          await this.#alerts.noteArrival(accountId, key);
          failing.delete(key);
        }
        const failed = attempts.slice(arrived + 1);
        if (failed.length === 0 || (!failing.has(key) && failing.size >= MAX_ADDRESSES)) continue;
        failing.add(key);
        const update = failedAttempts(key, failed);
        notices.push({ accountId, dueAt: new Date(failed[0]!.at.getTime() + LOOK_AFTER_MS), update });
      }
    }
    await this.#alerts.notice(notices);
  }
}

function failedAttempts(key: string, attempts: readonly Attempted[]): Update<AlertRecord> {
  const first = attempts[0]!;
  const { url, end, at } = attempts.at(-1)!;
  const path = `webhooks.${key}`;
  return {
    $set: {
      [`${path}.url`]: url,
      [`${path}.lastAt`]: at,
      [`${path}.status`]: end.responseStatus,
      [`${path}.error`]: end.error,
      [`${path}.nextAt`]: end.dueAt ?? null,
    },
    $min: { [`${path}.since`]: first.at } as NonNullable<Update<AlertRecord>['$min']>,
    $inc: { [`${path}.failures`]: attempts.length },
  } as Update<AlertRecord>;
}

/** What callbacks to one address have in common: the query may name a job, and may have secrets in it. */
function addressOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`.slice(0, MAX_ADDRESS_CHARS);
}

function addressKey(address: string): string {
  return createHash('sha256').update(address).digest('hex').slice(0, 24);
}
