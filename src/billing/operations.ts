import { randomUUID } from 'node:crypto';
import type { BillingStore } from './billing-store.ts';
import { hasFailed, isRefusal } from './stripe-gateway.ts';

/** A call at the provider that is under way, or whose answer was lost. */
export interface Operation {
  /** What it does, and to what: whoever wants the same again repeats this very call. */
  readonly name: string;
  /** Its idempotency key. */
  readonly key: string;
  /** Something that must be the same with every repetition; 0 when it needs none. */
  readonly value: number;
  readonly at: Date;
}

/**
 * Calls with an idempotency key that is stored before. A key is used up by an answer, be it yes or no, so that whoever
 * asks for the same later is heard anew; as long as there was none, the same call is made with the same key, by whichever
 * process. Where the answer is that Stripe has failed, whoever asks again has looked at what is before.
 */
export class Operations {
  readonly #store: BillingStore;

  constructor(store: BillingStore) {
    this.#store = store;
  }

  async run<T>(
    accountId: string,
    name: string,
    call: (operation: Operation) => Promise<T>,
    value = 0,
  ): Promise<T> {
    const operation = await this.#store.beginOperation(accountId, { name, key: randomUUID(), value });
    try {
      const answer = await call(operation);
      await this.#store.endOperation(accountId, operation.key);
      return answer;
    } catch (error) {
      if (isRefusal(error) || hasFailed(error)) await this.#store.endOperation(accountId, operation.key);
      throw error;
    }
  }
}
