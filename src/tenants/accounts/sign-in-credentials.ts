import { z } from 'zod';

/** RFC 5321, section 4.5.3.1.3, without the angle brackets. */
const MAX_EMAIL = 254;
/** Characters before the @: section 4.5.3.1.1. */
const MAX_LOCAL_PART = 64;
/** Characters of a password. */
export const PASSWORD_LENGTHS = { min: 8, max: 200 } as const;

/** An address that can be signed in with. Every way to create an account uses it, so that each account can be used. */
export const emailSchema = z
  .string()
  .max(MAX_EMAIL, { abort: true })
  .check(z.email({ abort: true }))
  .refine((address) => address.indexOf('@') <= MAX_LOCAL_PART, {
    message: `must have at most ${MAX_LOCAL_PART} characters before the @`,
  });

/** A password that can be set. */
export const passwordSchema = z.string().min(PASSWORD_LENGTHS.min).max(PASSWORD_LENGTHS.max);
