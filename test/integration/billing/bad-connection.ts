import { pick, seeded } from '../../chaos/random.ts';
import type { Problem, StripeRequest, StripeStandIn } from '../../support/stripe/stand-in.ts';

/** Stripe responds with 500, before or after the work was done, or with 429, or not at all, before or after. */
export const problems: readonly Problem[] = ['lost', 'unsent', 'failed', 'belied', 'busy'];

/**
 * Makes a part of all calls to Stripe fail. What becomes of the first call of a route, of the second and so on is drawn for
 * each route by itself, so that it is the same whichever of several calls at once comes first.
 */
export class BadConnection {
  /** In [0, 1]; no call fails at 0. */
  chance: number;
  /** How many calls have failed, by how. */
  readonly drawn = new Map<Problem, number>();
  readonly #seed: number;
  readonly #routes = new Map<string, () => number>();

  constructor(standIn: StripeStandIn, seed: number, chance: number) {
    this.#seed = seed;
    this.chance = chance;
    standIn.problemOf = (asked) => this.#errorOf(asked);
  }

  #errorOf({ method, route }: StripeRequest): Problem | undefined {
    const random = this.#randomOf(`${method} ${route}`);
    if (random() >= this.chance) return undefined;
    const error = pick(random, problems)!;
    this.drawn.set(error, (this.drawn.get(error) ?? 0) + 1);
    return error;
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
