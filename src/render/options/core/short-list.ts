import { type ZodRecord, type ZodType, z } from 'zod';

/** Objects have a setter of this name, so that an entry would be lost. */
export const PROTO = '__proto__';

/**
 * A list of at most `max` elements. Of a longer list only `max` + 1 elements are checked, since checking a million
 * would take seconds.
 */
export function shortList<T extends ZodType>(element: T, max: number) {
  const cut = (given: unknown) =>
    Array.isArray(given) && given.length > max ? given.slice(0, max + 1) : given;
  return z.preprocess(cut, z.array(element).max(max));
}

/**
 * A record of at most `max` entries. Of a larger record only the number of entries is checked, for the same reason. An
 * entry named `__proto__` is rejected, because a record would lose it.
 */
export function shortRecord<T extends ZodRecord>(record: T, max: number, message: string) {
  const bounded = (given: unknown, context: z.RefinementCtx) => {
    if (typeof given !== 'object' || given === null) return given;
    const isTooLarge = Object.keys(given).length > max;
    if (!isTooLarge && !Object.hasOwn(given, PROTO)) return given;
    context.addIssue(
      isTooLarge
        ? { code: 'custom', message }
        : { code: 'custom', path: [PROTO], message: 'is a name that may not be used' },
    );
    return z.NEVER;
  };
  return z.preprocess(bounded, record);
}
