import { z } from 'zod';

/** Headers of a request that may be sent again. */
export const idempotencyHeaders = z.object({
  'Idempotency-Key': z
    .string()
    .regex(/^[\x20-\x7e]{1,255}$/, 'must have 1 to 255 printable ASCII characters')
    .optional()
    .describe(
      'Names the request for 24 hours, so that it can be repeated: with the same body the first answer is given again. With it, hanging up does not cancel the render.',
    ),
});

export const REPLAYED_HEADER = {
  'Idempotent-Replayed': '`true` when the answer is that of an earlier request with this Idempotency-Key.',
};
