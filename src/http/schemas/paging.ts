import { z } from 'zod';

/** An integer of a query string. */
export function queryInteger(min: number, max: number, fallback: number) {
  return z.preprocess(
    (text) => (typeof text === 'string' && /^-?\d{1,15}$/.test(text) ? Number(text) : text),
    z
      .int({ error: (issue) => (issue.code === 'invalid_type' ? 'must be an integer' : undefined) })
      .min(min)
      .max(max)
      .default(fallback),
  );
}

/** Most that a list skips; further back the caller narrows the list down instead. */
const MAX_OFFSET = 10_000;

/** `limit` and `offset` of every list. */
export const paging = {
  limit: queryInteger(1, 100, 20).describe('How many to answer.'),
  offset: queryInteger(0, MAX_OFFSET, 0).describe('How many to skip.'),
};
/** What every list answers besides its rows. */
export const page = {
  total: z.int().min(0).describe('How many there are in all.'),
  limit: z.int(),
  offset: z.int(),
};
