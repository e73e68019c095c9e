import type { Clock } from '../clock.ts';
import { type BillingAccount, type BillingStore, KEY_MS } from './billing-store.ts';
import type { Operations } from './operations.ts';
import type { StripeSchedules } from './stripe-schedules.ts';

/** For so long whoever makes a schedule may still be between its two calls, in milliseconds. */
const AT_WORK_MS = 600_000;
const AT_ONCE = 20;
const DOWNGRADE = 'schedule';

/** Names the call that plans a price for the end of a subscription's period, so that it can be gone on with. */
export function downgradeName(subscriptionId: string, priceId: string): string {
  return [DOWNGRADE, subscriptionId, priceId].join(':');
}

export interface HalfMadeParts {
  readonly store: Pick<BillingStore, 'find' | 'halfMade' | 'wantAccount'>;
  readonly schedules: StripeSchedules;
  readonly operations: Operations;
  readonly clock: Clock;
}

/**
 * A downgrade is planned in two calls: one makes a schedule of what is, the other adds what is to come. Whoever dies between
 * them leaves a schedule that changes nothing, and is in the way of changes that the customer makes elsewhere. Where the
 * call that was under way is still known it is finished; otherwise the schedule is released, and the customer, who was never
 * told that it was done, may ask again.
 */
export class HalfMadeSchedules {
  readonly #parts: HalfMadeParts;

  constructor(parts: HalfMadeParts) {
    this.#parts = parts;
  }

  /**
   * By what the last looks at accounts have found.
   *
   * @returns how many were put right.
   * @throws what the provider does.
   */
  async mend(): Promise<number> {
    const { store, clock } = this.#parts;
    const before = new Date(clock.now().getTime() - AT_WORK_MS);
    let mended = 0;
    for (const account of await store.halfMade(before, AT_ONCE)) {
      // Whatever is done with it: it is not to be found by the same look again.
      await store.wantAccount(account._id, 'half-made schedule');
      if (await this.#mend(account)) mended += 1;
    }
    return mended;
  }

  async #mend({ _id, state }: BillingAccount): Promise<boolean> {
    const { store, schedules, operations } = this.#parts;
    const { scheduleId = null, subscriptionId = null, priceId: currentPriceId = null } = state ?? {};
    if (scheduleId === null || subscriptionId === null) return false;
    // The look may have been a while ago.
    if ((await schedules.find(scheduleId))?.halfMadeSince === undefined) return false;
    const asked = await this.#asked(_id, subscriptionId);
    if (asked === undefined) {
      await operations.run(_id, `release:${scheduleId}`, ({ key }) => schedules.release(scheduleId, key));
    } else {
      const { name, ...change } = asked;
      await operations.run(_id, name, ({ key }) =>
        schedules.change({ ...change, subscriptionId, scheduleId, currentPriceId }, key),
      );
    }
    // A look may have come in between.
    await store.wantAccount(_id, 'half-made schedule');
    return true;
  }

  /** The call that was under way, if its key is still known. */
  async #asked(accountId: string, subscriptionId: string) {
    const { store, schedules, clock } = this.#parts;
    const { operation } = (await store.find(accountId)) ?? {};
    if (operation === undefined || clock.now().getTime() - operation.at.getTime() >= KEY_MS) return undefined;
    const { name } = operation;
    const [, , priceId = ''] = name.split(':');
    if (name !== downgradeName(subscriptionId, priceId)) return undefined;
    const plan = await schedules.planOfPrice(priceId);
    return plan === undefined ? undefined : { name, priceId, plan };
  }
}
