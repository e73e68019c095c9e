import { pick, seeded } from '../../chaos/random.ts';
import type { Asked, Fault, StripeStandIn } from '../../support/stripe/stand-in.ts';

/** Stripe answers 500, before or after the work was done, or 429, or not at all, before or after. */
export const FAULTS: readonly Fault[] = ['lost', 'unsent', 'failed', 'belied', 'busy'];

/**
 * Makes a part of all calls to Stripe fail. What becomes of the first call of a route, of the second and so on is drawn for
 * each route by itself, so that it is the same whichever of several calls at once comes first.
 */
export class BadConnection {
  /** In [0, 1]; no call fails at 0. */
  chance: number;
  /** How many calls have failed, by how. */
  readonly drawn = new Map<Fault, number>();
  readonly #seed: number;
  readonly #routes = new Map<string, () => number>();

  constructor(standIn: StripeStandIn, seed: number, chance: number) {
    this.#seed = seed;
    this.chance = chance;
    standIn.fault = (asked) => this.#faultOf(asked);
  }

  #faultOf({ method, route }: Asked): Fault | undefined {
    const random = this.#randomOf(`${method} ${route}`);
    if (random() >= this.chance) return undefined;
    const fault = pick(random, FAULTS)!;
    this.drawn.set(fault, (this.drawn.get(fault) ?? 0) + 1);
    return fault;
  }

  #randomOf(route: string): () => number {
    const known = this.#routes.get(route);
    if (known !== undefined) return known;
    const mixed = [...route].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0), this.#seed);
    const made = seeded(mixed);
    this.#routes.set(route, made);
    return made;
  }
}
