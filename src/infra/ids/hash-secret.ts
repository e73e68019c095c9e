import { createHash } from 'node:crypto';

/**
 * The hash, in hex, by which a secret (an API key, a token, the code of an invitation or link) is stored and looked up.
 * Secrets have 256 random bits or a signature, so a fast hash is enough.
 */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
