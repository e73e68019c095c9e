import { type ZodType, z } from 'zod';

/**
 * A list of a few elements. Of one that is far too long only as many are looked at as show that: checking a million of
 * them would take seconds.
 */
export function shortList<T extends ZodType>(element: T, max: number) {
  const cut = (given: unknown) =>
    Array.isArray(given) && given.length > max ? given.slice(0, max + 1) : given;
  return z.preprocess(cut, z.array(element).max(max));
}
