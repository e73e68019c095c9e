import type Stripe from 'stripe';
import type { ScheduleSnapshot } from './provider-snapshot.ts';
import { phaseAfter, phaseAsItIs } from './schedule-phases.ts';
import { type StripeGateway, unlessRejected } from './stripe-gateway.ts';
import { METADATA, scheduleSnapshot } from './stripe-snapshots.ts';

/** The calls to Stripe that plan a lower plan for later; keys and errors are as the gateway's. */
export class StripeSchedules {
  readonly #gateway: StripeGateway;

  constructor(gateway: StripeGateway) {
    this.#gateway = gateway;
  }

  /**
   * Plans a lower price for the end of the period: in two calls, since only the second one can add a phase. The second
   * call replaces all phases, so the present phase is sent back unchanged, and the next one is a copy with another
   * price.
   *
   * @param change.currentPriceId the price that is replaced.
   */
  async change(
    change: {
      subscriptionId: string;
      scheduleId: string | null;
      currentPriceId: string | null;
      priceId: string;
      plan: string;
    },
    key: string,
  ): Promise<void> {
    const schedule =
      change.scheduleId === null
        ? await this.#stripe.subscriptionSchedules.create(
            { from_subscription: change.subscriptionId },
            { idempotencyKey: `${key}:create` },
          )
        : await this.#stripe.subscriptionSchedules.retrieve(change.scheduleId);
    const running = schedule.phases.find(({ end_date }) => end_date === schedule.current_phase?.end_date);
    if (running === undefined || running.items.length === 0) {
      throw new Error(`Schedule ${schedule.id} has no phase at work.`);
    }
    const next = {
      from: change.currentPriceId,
      to: change.priceId,
      metadata: { [METADATA.plan]: change.plan },
    };
    await this.#stripe.subscriptionSchedules.update(
      schedule.id,
      {
        end_behavior: 'release',
        proration_behavior: 'none',
        phases: [phaseAsItIs(running), phaseAfter(running, next)],
      },
      { idempotencyKey: `${key}:update` },
    );
  }

  async find(scheduleId: string): Promise<ScheduleSnapshot | null> {
    return scheduleSnapshot(await this.#stripe.subscriptionSchedules.retrieve(scheduleId));
  }

  /** The plan that the metadata of a price names. */
  async planOfPrice(priceId: string): Promise<string | undefined> {
    return (await this.#stripe.prices.retrieve(priceId)).metadata[METADATA.plan];
  }

  /** The subscription goes on unchanged, without a schedule. A schedule that has ended stays as it is. */
  async release(scheduleId: string, key: string): Promise<void> {
    await unlessRejected(() =>
      this.#stripe.subscriptionSchedules.release(scheduleId, {}, { idempotencyKey: key }),
    );
  }

  get #stripe(): Stripe {
    return this.#gateway.stripe;
  }
}
