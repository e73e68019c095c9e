import { createHmac, timingSafeEqual } from 'node:crypto';
import { PlatenSignatureError } from './errors.ts';
import type { JobRecord } from './generated/schema.ts';

const SECRET_PREFIX = 'whsec_';
const VERSION = 'v2,';

/** A batch or a render has ended. It is a signal, which may come twice: keep the delivery ids that you have seen. */
export interface Callback {
  /** Names the callback; the same with every attempt. */
  readonly deliveryId: string;
  /** `webhook.test` is what `POST /user/webhook-deliveries/test` sends. */
  readonly event: 'batch.completed' | 'render.completed' | 'render.failed' | 'webhook.test';
  readonly jobId: string;
  readonly status: JobRecord['status'];
  readonly statusUrl: string;
  readonly completedAt: string | null;
  /** Of a batch. */
  readonly zipUrl?: string;
  /** Of a render that has completed. */
  readonly fileUrl?: string;
  /** Of a render that has failed. */
  readonly error?: { readonly code: string; readonly message: string } | null;
}

/** As `Request.headers` has them, or `IncomingMessage.headers` of Node. */
export type HeadersLike = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface CallbackOptions {
  /** How old it may be, and how far ahead of this machine's clock, in milliseconds; 300,000 by default. */
  readonly toleranceMs?: number | undefined;
  /** What the service's own headers begin with; `X-Service-` unless its operator has changed it. */
  readonly headerPrefix?: string | undefined;
}

/**
 * Makes sure that a callback comes from the service, and was sent just now.
 *
 * @param body of the request, byte for byte as it arrived, not parsed.
 * @param secret `whsec_…`, from `POST /user/webhook-keys/rotate`; or several, of which one has to match.
 * @throws PlatenSignatureError when it is not known to come from the service: respond with 400, and do not act upon it.
 * TypeError when the secret is none.
 */
export function verifyCallback(
  body: string | Uint8Array,
  headers: HeadersLike,
  secret: string | readonly string[],
  { toleranceMs = 300_000, headerPrefix = 'X-Service-' }: CallbackOptions = {},
): Callback {
  const keys = [secret].flat().map(keyOf);
  if (keys.length === 0) throw new TypeError('No secret to verify the callback with.');
  const [deliveryId, timestamp, signatures] = ['Delivery-Id', 'Timestamp', 'Signature-V2'].map((name) =>
    headerOf(headers, headerPrefix + name),
  ) as [string, string, string];
  if (deliveryId === '' || timestamp === '' || signatures === '')
    throw new PlatenSignatureError(
      `The request has no ${headerPrefix}Delivery-Id, -Timestamp and -Signature-V2.`,
    );
  if (!/^\d{1,15}$/.test(timestamp) || Math.abs(Date.now() - Number(timestamp) * 1000) > toleranceMs)
    throw new PlatenSignatureError(`It was not sent within ${toleranceMs} ms of now, but at ${timestamp}.`);
  const isSigned = keys.some((key) => {
    const hmac = createHmac('sha256', key).update(`${deliveryId}.${timestamp}.`).update(body);
    const expected = Buffer.from(VERSION + hmac.digest('base64'));
    return signatures.split(' ').some((given) => {
      const signature = Buffer.from(given);
      return signature.length === expected.length && timingSafeEqual(signature, expected);
    });
  });
  if (!isSigned) throw new PlatenSignatureError('None of its signatures was made with the secret.');
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  return { ...(JSON.parse(text) as Callback), deliveryId };
}

function headerOf(headers: HeadersLike, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? '';
  const [, value] =
    Object.entries(headers).find(([given]) => given.toLowerCase() === name.toLowerCase()) ?? [];
  return [value ?? ''].flat().join(' ');
}

function keyOf(secret: string): Buffer {
  const [, text = ''] = new RegExp(`^${SECRET_PREFIX}([A-Za-z0-9+/]+={0,2})$`).exec(secret.trim()) ?? [];
  const key = Buffer.from(text, 'base64');
  if (key.length === 0) throw new TypeError(`A secret is ${SECRET_PREFIX} and base64.`);
  return key;
}
