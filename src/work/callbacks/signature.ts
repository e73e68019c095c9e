import { createHmac } from 'node:crypto';

/** The prefix of a signing secret; the rest is base64 of the key. */
export const SECRET_PREFIX = 'whsec_';

/** The signed fields: changing any of them, or sending the callback again at another time, breaks the signature. */
export interface Signed {
  readonly deliveryId: string;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly body: string;
}

/** What a signature is called: `v2` in the service's own header, `v1` where Standard Webhooks has it. They are equal else. */
type SignatureVersion = 'v1' | 'v2';

/** `v2,<base64>` for each of the secrets, separated by spaces: a receiver needs to know one of them. */
export function signatures(
  secrets: readonly string[],
  { deliveryId, timestamp, body }: Signed,
  version: SignatureVersion = 'v2',
): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
      const mac = createHmac('sha256', key).update(`${deliveryId}.${timestamp}.${body}`).digest('base64');
      return `${version},${mac}`;
    })
    .join(' ');
}

/**
 * The headers by which a receiver knows that the service has sent something: its own, and those of Standard Webhooks.
 *
 * @param keys that sign, the newest first; at least one. @param prefix of the service's own headers, such as `X-Service-`.
 */
export function signedHeaders(
  keys: readonly { readonly id: string; readonly secret: string }[],
  signed: Signed,
  prefix: string,
): Record<string, string> {
  const secrets = keys.map(({ secret }) => secret);
  return {
    [`${prefix}Signature-V2`]: signatures(secrets, signed),
    [`${prefix}Timestamp`]: String(signed.timestamp),
    [`${prefix}Delivery-Id`]: signed.deliveryId,
    [`${prefix}Key-Id`]: keys[0]!.id,
    ...standardHeaders(secrets, signed),
  };
}

/** The headers of Standard Webhooks (standardwebhooks.com), by which its libraries verify a callback. */
export function standardHeaders(secrets: readonly string[], signed: Signed): Record<string, string> {
  return {
    'webhook-id': signed.deliveryId,
    'webhook-timestamp': String(signed.timestamp),
    'webhook-signature': signatures(secrets, signed, 'v1'),
  };
}
