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

/** `v2,<base64>` for each of the secrets, separated by spaces: a receiver needs to know one of them. */
export function signatures(secrets: readonly string[], { deliveryId, timestamp, body }: Signed): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
      const mac = createHmac('sha256', key).update(`${deliveryId}.${timestamp}.${body}`).digest('base64');
      return `v2,${mac}`;
    })
    .join(' ');
}
