import { z } from 'zod';

/** The message of a check, or a function that makes it for a rejected text. */
type Rejection = string | ((issue: { readonly input?: unknown }) => string);

/**
 * Checks of a text after its limit on the length (docs/decisions/0216-lengths-before-patterns.md). They run only on a text
 * without an error so far. `abort` of the limit would have the same effect, but it would end the checks of all options
 * besides, and leave out the rules between them.
 */
const onValid = { when: ({ issues }: { readonly issues: readonly unknown[] }) => issues.length === 0 };

/** The text matches. @param error the message, which continues a sentence that begins with the option's name. */
export function matches(pattern: RegExp, error: string) {
  // Its types leave `when` out.
  return z.regex(pattern, { error, ...onValid } as z.core.$ZodCheckRegexParams);
}

/** The condition holds. @param error as in `matches`. */
export function holds(condition: (text: string) => boolean, error: Rejection) {
  return z.refine<string>(condition, { error, ...onValid });
}

/** Decoding skips what is not base64, so what it has decoded is encoded again: that takes linear time and no stack. */
export function isBase64() {
  return holds(
    (text) => Buffer.from(text, 'base64').toString('base64') === text,
    'must be base64 (RFC 4648) with its padding and without line breaks',
  );
}
