import { randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

export const KEY_MODES = ['live', 'test'] as const;
export type KeyMode = (typeof KEY_MODES)[number];

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 62^43 > 2^256 and 62^6 > 2^32: with fixed lengths, all generated secrets are equally long. */
const RANDOM_DIGITS = 43;
const CHECKSUM_DIGITS = 6;
/** `sk_live_` and four more characters: enough to recognise a key, far too few to guess it. */
const SHOWN = 12;

/** A new secret: `sk_live_` or `sk_test_`, 32 random bytes in base 62, and a checksum that detects typing errors. */
export function newSecret(mode: KeyMode): string {
  const body = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), RANDOM_DIGITS);
  return `sk_${mode}_${body}${checksum(body)}`;
}

/**
 * The form of a secret, generated or given; a given one needs no checksum. Its characters are valid in a header, and
 * its length leaves room for the other headers of a request.
 */
export const SECRET_FORM = /^sk_(live|test)_[\x21-\x7e]{32,4096}$/;

/** The mode that a secret names; undefined for a text that is not in the form of a secret. */
export function modeOf(secret: string): KeyMode | undefined {
  return SECRET_FORM.exec(secret)?.[1] as KeyMode | undefined;
}

/** Whether two hashes of secrets are equal, in constant time. */
export function isSameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one, 'hex'), Buffer.from(other, 'hex')];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The leading characters, which lists show. */
export function prefixOf(secret: string): string {
  return secret.slice(0, SHOWN);
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), CHECKSUM_DIGITS);
}

function base62(value: bigint, digits: number): string {
  let text = '';
  for (let rest = value; text.length < digits; rest /= 62n) text = BASE62[Number(rest % 62n)] + text;
  return text;
}
