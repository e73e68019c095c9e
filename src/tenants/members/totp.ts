import { createHmac, timingSafeEqual } from 'node:crypto';

/** Time-based one-time passwords (RFC 6238) as authenticator apps expect them: SHA-1, 30 seconds, 6 digits. */
const STEP_MS = 30_000;
const DIGITS = 6;
/** Steps before and after the present one whose codes are accepted: clocks differ, and typing takes time. */
const TOLERANCE = 1;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The code of a step (RFC 4226, section 5.3). */
export function codeOf(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = mac[mac.length - 1]! & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
}

export function stepAt(at: Date): number {
  return Math.floor(at.getTime() / STEP_MS);
}

/** The step whose code was given, near a time; undefined for a wrong code. */
export function matchingStep(secret: Buffer, code: string, at: Date): number | undefined {
  const given = Buffer.from(code);
  if (given.length !== DIGITS) return undefined;
  const now = stepAt(at);
  let found: number | undefined;
  for (let step = now - TOLERANCE; step <= now + TOLERANCE; step += 1)
    if (timingSafeEqual(given, Buffer.from(codeOf(secret, step)))) found = step;
  return found;
}

/** RFC 4648 without padding, as apps take secrets. */
export function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return bits.replace(/.{1,5}/g, (five) => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)]!);
}

/** What an app reads from a QR code. */
export function otpauthUri(secret: Buffer, account: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`;
}
