import { z } from 'zod';

/** An integer of a query string. */
export function queryInteger(min: number, max: number, fallback: number) {
  return z.preprocess(numberOf, integer(min, max).default(fallback));
}

/** An integer of a query string that may be absent. */
export function optionalQueryInteger(min: number, max: number) {
  return z.preprocess(numberOf, integer(min, max).optional());
}

function numberOf(text: unknown): unknown {
  return typeof text === 'string' && /^(?:0|-?[1-9]\d{0,14})$/.test(text) ? Number(text) : text;
}

function integer(min: number, max: number) {
  return z
    .int({ error: (issue) => (issue.code === 'invalid_type' ? 'must be an integer' : undefined) })
    .min(min)
    .max(max);
}

/** `true` or `false` of a query string. */
export function queryBoolean(fallback: boolean) {
  return z.preprocess(
    (text) => (text === 'true' || text === 'false' ? text === 'true' : text),
    z.boolean({ error: 'must be true or false' }).default(fallback),
  );
}

/** A moment in ISO 8601, as `from` and `to` of lists. */
export const moment = z.iso.datetime({ offset: true }).transform((text) => new Date(text));

/** The largest offset of a list that reads the skipped rows; beyond it callers narrow the list down instead. */
const MAX_OFFSET = 10_000;
/** The largest offset of a list that does not read the skipped rows. */
const MAX_COUNTED_OFFSET = 1_000_000_000;

/** `limit` and `offset` of every list. */
export const paging = pagingUpTo(MAX_OFFSET);
/** `paging` and the order of a list by time. */
export const pagingByTime = {
  ...paging,
  sort: z.enum(['created_desc', 'created_asc']).default('created_desc'),
};
/** `limit` and `offset` of a list in which every page costs the same. */
export const countedPaging = pagingUpTo(MAX_COUNTED_OFFSET);

function pagingUpTo(maxOffset: number) {
  return {
    limit: queryInteger(1, 100, 20).describe('How many to return.'),
    offset: queryInteger(0, maxOffset, 0).describe('How many to skip.'),
  };
}

/** The response fields of every list, besides its rows. */
export const page = {
  total: z.int().min(0).describe('How many there are in all.'),
  limit: z.int(),
  offset: z.int(),
};
