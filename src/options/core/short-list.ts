import { type ZodRecord, type ZodType, z } from 'zod';

/**
 * A list of at most `max` elements. Of a longer list only `max` + 1 elements are checked, since checking a million
 * would take seconds.
 */
export function shortList<T extends ZodType>(element: T, max: number) {
  const cut = (given: unknown) =>
    Array.isArray(given) && given.length > max ? given.slice(0, max + 1) : given;
  return z.preprocess(cut, z.array(element).max(max));
}

/** A record of at most `max` entries. Of a larger record only the number of entries is checked, for the same reason. */
export function shortRecord<T extends ZodRecord>(record: T, max: number, message: string) {
  const bounded = (given: unknown, context: z.RefinementCtx) => {
    const entries = typeof given === 'object' && given !== null ? Object.keys(given).length : 0;
    if (entries <= max) return given;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  return z.preprocess(bounded, record);
}
