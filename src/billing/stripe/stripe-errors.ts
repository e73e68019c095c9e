import Stripe from 'stripe';
import { PlatenError } from '../../infra/errors/registry.ts';
import { isRejection } from './stripe-gateway.ts';

const RETRY_S = 5;

/** The error that a caller gets when the provider did not do what it was requested to do. */
export function asPlatenError(error: unknown): unknown {
  if (!(error instanceof Stripe.errors.StripeError)) return error;
  if (error.statusCode === 429) {
    return new PlatenError('RATE_LIMITED', 'The payment provider is asked too often at the moment.', {
      cause: error,
      retryAfterSeconds: RETRY_S,
    });
  }
  if (error instanceof Stripe.errors.StripeCardError) {
    return new PlatenError('PAYMENT_FAILED', error.message, { cause: error });
  }
  if (isRejection(error)) return new PlatenError('INTERNAL', undefined, { cause: error });
  return noResponse(error);
}

/** The error of a caller that may try again in a few seconds. */
export function noResponse(cause?: unknown): PlatenError {
  return new PlatenError('UNAVAILABLE', 'The payment provider does not respond at the moment.', {
    cause,
    retryAfterSeconds: RETRY_S,
  });
}

/** Runs a call to the provider. @throws what `asPlatenError` makes of its errors. */
export async function reported<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw asPlatenError(error);
  }
}
