import type Stripe from 'stripe';
import { phaseAfter, phaseAsItIs } from './schedule-phases.ts';
import type { ScheduleSnapshot } from './snapshot.ts';
import { type StripeGateway, unlessRefused } from './stripe-gateway.ts';
import { METADATA, scheduleSnapshot } from './stripe-snapshots.ts';

/** The calls to Stripe by which a lower plan is planned for later; keys and errors are as the gateway's. */
export class StripeSchedules {
  readonly #gateway: StripeGateway;

  constructor(gateway: StripeGateway) {
    this.#gateway = gateway;
  }

  /**
   * Plans a lower price for the end of the period: in two calls, since only a second one can add a phase. That one replaces
   * all phases, so the one at work is sent back as it is, and the one to come is the same with another price.
   *
   * @param change.currentPriceId the price that it takes the place of.
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

  /** The subscription goes on as it is, without a schedule. One that is over already stays as it is. */
  async release(scheduleId: string, key: string): Promise<void> {
    await unlessRefused(() =>
      this.#stripe.subscriptionSchedules.release(scheduleId, {}, { idempotencyKey: key }),
    );
  }

  get #stripe(): Stripe {
    return this.#gateway.stripe;
  }
}
