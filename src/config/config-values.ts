import { z } from 'zod';
import { parseNetworks } from '../infra/egress/networks.ts';
import { directTargets } from '../infra/egress/upstream-proxy.ts';
import { SECRET_FORM } from '../tenants/keys/secret.ts';
import { parseOperatorTokens } from './operators.ts';

/* The value formats of environment variables. */

export const text = z.string().min(1);
export const secret = z.string().min(32, 'must have 32 characters or more');
export const port = z.coerce.number().int().min(0).max(65535);
export const integer = (fallback: number, min: number, max: number) =>
  z.coerce.number().int().min(min).max(max).default(fallback);
export const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);
/** A list that `parse` accepts; what it throws is the error. */
const listFor = (parse: (entries: string[]) => unknown) =>
  list.superRefine((entries, context) => {
    try {
      parse(entries);
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message });
    }
  });
export const networks = listFor(parseNetworks);
export const proxyExceptions = listFor(directTargets);
/** A user name or a password of an address that is not encoded as addresses are cannot be sent. */
export const proxyUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .refine((text) => {
    try {
      const { username, password } = new URL(text);
      return decodeURIComponent(username + password) !== undefined;
    } catch {
      return false;
    }
  }, 'must have its user name and password percent-encoded');
export const operatorTokens = z.string().transform((text, context) => {
  try {
    return parseOperatorTokens(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message });
    return z.NEVER;
  }
});

export const kubernetesName = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/, 'must be a name of Kubernetes');

export const givenKey = z
  .string()
  .regex(
    SECRET_FORM,
    'must start with sk_live_ or sk_test_ and have 32 to 4096 printable characters after that',
  );
