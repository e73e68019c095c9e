import type { Clock } from '../../infra/clock.ts';
import type { StripeSchedules } from '../stripe/stripe-schedules.ts';
import { type BillingAccount, type BillingStore, KEY_MS } from './billing-store.ts';
import type { KeyedOperations } from './keyed-operations.ts';

/** How long the process that makes a schedule may still be between its two calls, in milliseconds. */
const AT_WORK_MS = 600_000;
const AT_ONCE = 20;
const DOWNGRADE = 'schedule';

/** Names the call that plans a price for the end of a subscription's period, so that it can be continued. */
export function downgradeName(subscriptionId: string, priceId: string): string {
  return [DOWNGRADE, subscriptionId, priceId].join(':');
}

interface HalfMadeDeps {
  readonly store: Pick<BillingStore, 'find' | 'halfMade' | 'wantAccount'>;
  readonly schedules: StripeSchedules;
  readonly operations: KeyedOperations;
  readonly clock: Clock;
}

/**
 * A downgrade is planned in two calls: the first makes a schedule of the present phase, the second adds the next one. A
 * process that dies between them leaves a schedule that changes nothing, and blocks changes that the customer makes
 * elsewhere. If the call that was under way is still known, it is finished; otherwise the schedule is released, and the
 * customer, whose request was never confirmed, may request it again.
 */
export class HalfMadeSchedules {
  readonly #deps: HalfMadeDeps;

  constructor(deps: HalfMadeDeps) {
    this.#deps = deps;
  }

  /** Repairs the schedules that the last checks found. @returns how many. @throws the provider's errors. */
  async repair(): Promise<number> {
    const { store, clock } = this.#deps;
    const before = new Date(clock.now().getTime() - AT_WORK_MS);
    let repaired = 0;
    for (const account of await store.halfMade(before, AT_ONCE)) {
      // Whatever happens to the schedule: the state of this check must not find it again.
      await store.wantAccount(account._id, 'half-made schedule');
      if (await this.#repair(account)) repaired += 1;
    }
    return repaired;
  }

  async #repair({ _id, state }: BillingAccount): Promise<boolean> {
    const { store, schedules, operations } = this.#deps;
    const { scheduleId = null, subscriptionId = null, priceId: currentPriceId = null } = state ?? {};
    if (scheduleId === null || subscriptionId === null) return false;
    // The check may be out of date.
    if ((await schedules.find(scheduleId))?.halfMadeSince === undefined) return false;
    const pending = await this.#pendingChange(_id, subscriptionId);
    if (pending === undefined) {
      await operations.run(_id, `release:${scheduleId}`, ({ key }) => schedules.release(scheduleId, key));
    } else {
      const { name, ...change } = pending;
      await operations.run(_id, name, ({ key }) =>
        schedules.change({ ...change, subscriptionId, scheduleId, currentPriceId }, key),
      );
    }
    // A check may have come in between.
    await store.wantAccount(_id, 'half-made schedule');
    return true;
  }

  /** The call that was under way, if its key is still known. */
  async #pendingChange(accountId: string, subscriptionId: string) {
    const { store, schedules, clock } = this.#deps;
    const { operation } = (await store.find(accountId)) ?? {};
    if (operation === undefined || clock.now().getTime() - operation.at.getTime() >= KEY_MS) return undefined;
    const { name } = operation;
    const [, , priceId = ''] = name.split(':');
    if (name !== downgradeName(subscriptionId, priceId)) return undefined;
    const plan = await schedules.planOfPrice(priceId);
    return plan === undefined ? undefined : { name, priceId, plan };
  }
}
