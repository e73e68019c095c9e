import { z } from 'zod';

/** Headers of a request that may be sent again. */
export const idempotencyHeaders = z.object({
  'Idempotency-Key': z
    .string()
    .regex(/^[\x20-\x7e]{1,255}$/, 'must have 1 to 255 printable ASCII characters')
    .optional()
    .describe(
      'Names the request for 24 hours, so that it can be repeated safely: a request with the same key and body gets the first response again. With a key, closing the connection does not cancel the render.',
    ),
});

export const REPLAYED_HEADER = {
  'Idempotent-Replayed':
    '`true` if this is the response to an earlier request with the same Idempotency-Key.',
};
