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

/** The headers of Standard Webhooks (standardwebhooks.com), by which its libraries verify a callback. */
export function standardHeaders(secrets: readonly string[], signed: Signed): Record<string, string> {
  return {
    'webhook-id': signed.deliveryId,
    'webhook-timestamp': String(signed.timestamp),
    'webhook-signature': signatures(secrets, signed, 'v1'),
  };
}
