import { createHmac } from 'node:crypto';

/** What a signing secret starts with; the rest is base64 of the key. */
export const SECRET_PREFIX = 'whsec_';

/** What is signed: who changes any of it, or sends it again at another time, breaks the signature. */
export interface Signed {
  readonly deliveryId: string;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly body: string;
}

/** `v2,<base64>` for each of the secrets, with a space between: a receiver needs to know one of them. */
export function signatures(secrets: readonly string[], { deliveryId, timestamp, body }: Signed): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
      const mac = createHmac('sha256', key).update(`${deliveryId}.${timestamp}.${body}`).digest('base64');
      return `v2,${mac}`;
    })
    .join(' ');
}
