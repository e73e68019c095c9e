import Stripe from 'stripe';
import type { StripeEvent } from './records.ts';
import type { StripeStandIn } from './stand-in.ts';

/** How events come to their receiver; each chance is a number in [0, 1]. */
export interface Weather {
  /** That an event is not sent at all, until the reconcile or `redeliver` finds it. */
  readonly dropped: number;
  /** That it is sent a second time, at some later point. */
  readonly doubled: number;
  /** That it stays behind when others are sent. */
  readonly delayed: number;
}

/** Every event once, in order. */
export const FAIR: Weather = { dropped: 0, doubled: 0, delayed: 0 };

export interface DelivererDeps {
  readonly standIn: StripeStandIn;
  readonly secret: string;
  /** Posts a signed event. @returns the status of the response. */
  readonly post: (payload: string, signature: string) => Promise<number>;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly weather?: Weather;
  /** Types that the endpoint is for; all, unless given. */
  readonly types?: ReadonlySet<string>;
}

/** Delivers the events of a stand-in, signed as Stripe signs them. The generator decides order, copies and losses. */
export class Deliverer {
  weather: Weather;
  readonly #deps: DelivererDeps;
  readonly #dropped: StripeEvent[] = [];
  #waiting: StripeEvent[] = [];

  constructor(deps: DelivererDeps) {
    this.#deps = deps;
    this.weather = deps.weather ?? FAIR;
    deps.standIn.books.onEvent = (event) => this.#take(event);
  }

  /** Events that are still to be sent. */
  get waiting(): number {
    return this.#waiting.length;
  }

  #take(event: StripeEvent): void {
    const { random, types } = this.#deps;
    if (types !== undefined && !types.has(event.type)) {
      event.pending_webhooks = 0;
      return;
    }
    if (random() < this.weather.dropped) {
      this.#dropped.push(event);
      return;
    }
    this.#waiting.push(event);
    if (random() < this.weather.doubled) this.#waiting.push(event);
  }

  /** One round: sends waiting events except delayed ones, in an order that the generator chooses. */
  async deliver(): Promise<void> {
    const { random } = this.#deps;
    const { delayed } = this.weather;
    const now: StripeEvent[] = [];
    const later: StripeEvent[] = [];
    for (const event of this.#waiting) (random() < delayed ? later : now).push(event);
    this.#waiting = later;
    const fair = delayed === 0 && this.weather.doubled === 0;
    for (const event of fair ? now : shuffled(now, random)) await this.#send(event);
  }

  /** Sends until nothing is left, whatever the weather; what a receiver did not take is sent again, `tries` times in all. */
  async deliverAll(tries = 20): Promise<void> {
    for (let round = 0; round < tries && this.#waiting.length > 0; round += 1) await this.deliver();
    const left = this.#waiting;
    this.#waiting = [];
    for (const event of left) await this.#send(event);
  }

  /** Sends dropped events, as an operator does by hand. */
  async redeliver(): Promise<void> {
    for (const event of this.#dropped.splice(0)) await this.#send(event);
  }

  async #send(event: StripeEvent): Promise<void> {
    const { standIn, secret, post } = this.#deps;
    const payload = JSON.stringify(event);
    const timestamp = standIn.books.clockSeconds;
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
    const status = await post(payload, signature).catch(() => 0);
    if (status >= 200 && status < 300) event.pending_webhooks = 0;
    else this.#waiting.push(event);
  }
}

function shuffled<T>(from: readonly T[], random: () => number): T[] {
  const all = [...from];
  for (let last = all.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [all[last], all[other]] = [all[other]!, all[last]!];
  }
  return all;
}
