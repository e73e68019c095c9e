import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(argon2);

/** Argon2id with 19 MiB, two passes, one lane: the OWASP Password Storage Cheat Sheet's second choice of parameters. */
const PARAMETERS = { parallelism: 1, tagLength: 32, memory: 19_456, passes: 2 } as const;

/** `argon2id$<salt>$<tag>`, both base64url. Takes about 30 ms in a thread of the pool. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const tag = await derive('argon2id', { message: bytesOf(password), nonce: salt, ...PARAMETERS });
  return `argon2id$${salt.toString('base64url')}$${tag.toString('base64url')}`;
}

/** Takes the same time for a right password, a wrong one and a missing or malformed hash. */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  const [scheme, salt, tag] = (hash ?? '').split('$');
  const known = scheme === 'argon2id' && salt !== undefined && tag !== undefined;
  const nonce = known ? Buffer.from(salt, 'base64url') : randomBytes(16);
  const derived = await derive('argon2id', { message: bytesOf(password), nonce, ...PARAMETERS });
  if (!known) return false;
  const expected = Buffer.from(tag, 'base64url');
  return expected.length === derived.length && timingSafeEqual(expected, derived);
}

/** Two systems can encode the same character differently (é as one code point or two): NIST SP 800-63B, 3.1.1.2. */
function bytesOf(password: string): Buffer {
  return Buffer.from(password.normalize('NFKC'));
}
