import { createHmac, timingSafeEqual } from 'node:crypto';

/** The longest a download link lives, in milliseconds; never past the retention of what it leads to. */
export const LINK_LIFE_MS = 15 * 60_000;

export interface LinkTarget {
  readonly jobId: string;
  readonly accountId: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** Makes and checks the tokens of `/v1/files/:token`: who holds one may read one PDF, for a while. */
export class DownloadLinks {
  readonly #key: Buffer;

  /** @param secret PLATEN_SECRET; links get a key of their own derived from it. */
  constructor(secret: string) {
    this.#key = createHmac('sha256', secret).update('platen download links v1').digest();
  }

  /** @param retentionEnds the link ends there if that is sooner than LINK_LIFE_MS from `now`. */
  sign(jobId: string, accountId: string, retentionEnds: Date, now: Date): { token: string; expiresAt: Date } {
    const expiresAt = Math.min(now.getTime() + LINK_LIFE_MS, retentionEnds.getTime());
    const payload = Buffer.from(JSON.stringify([jobId, accountId, expiresAt])).toString('base64url');
    return {
      token: `${payload}.${this.#mac(payload).toString('base64url')}`,
      expiresAt: new Date(expiresAt),
    };
  }

  /** undefined for a token that is malformed, forged or past its time. */
  verify(token: string, now: Date): LinkTarget | undefined {
    const [payload, mac, ...rest] = token.split('.');
    if (payload === undefined || mac === undefined || rest.length > 0) return undefined;
    const given = Buffer.from(mac, 'base64url');
    const expected = this.#mac(payload);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    const [jobId, accountId, expiresAt] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [
      string,
      string,
      number,
    ];
    return expiresAt > now.getTime() ? { jobId, accountId, expiresAt } : undefined;
  }

  #mac(payload: string): Buffer {
    return createHmac('sha256', this.#key).update(payload).digest();
  }
}
