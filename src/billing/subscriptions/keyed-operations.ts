import { randomUUID } from 'node:crypto';
import { hasFailed, isRejection } from '../stripe/stripe-gateway.ts';
import type { BillingStore, Operation } from './billing-store.ts';

/**
 * Calls with an idempotency key that is stored before the call. A response, success or rejection, uses the key up, so
 * that a later request for the same is decided anew; until there is a response, any process repeats the same call with
 * the same key. If the response is that Stripe has failed, the next request has read the present state before.
 */
export class KeyedOperations {
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
      const response = await call(operation);
      await this.#store.endOperation(accountId, operation.key);
      return response;
    } catch (error) {
      if (isRejection(error) || hasFailed(error)) await this.#store.endOperation(accountId, operation.key);
      throw error;
    }
  }
}
