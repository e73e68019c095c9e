import { createHmac, timingSafeEqual } from 'node:crypto';

/** How long a download link is valid at most, in milliseconds; it never outlives the retention of its file. */
export const LINK_LIFE_MS = 15 * 60_000;

/** The file of a link: the PDF of a job, or the manifest of a batch. */
export type LinkKind = 'pdf' | 'manifest';

export interface LinkTarget {
  readonly kind: LinkKind;
  /** The id of the job or the batch. */
  readonly jobId: string;
  readonly accountId: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** Makes and checks the tokens of `/v1/files/:token`: the holder of a token may read one file for a limited time. */
export class DownloadLinks {
  readonly #key: Buffer;

  /** @param secret PLATEN_SECRET, from which the key of the links is derived. */
  constructor(secret: string) {
    this.#key = createHmac('sha256', secret).update('platen download links v1').digest();
  }

  /** @param retentionEnds the link expires then if that is sooner than LINK_LIFE_MS after `now`. */
  sign(
    jobId: string,
    accountId: string,
    retentionEnds: Date,
    now: Date,
    kind: LinkKind = 'pdf',
  ): { token: string; expiresAt: Date } {
    const expiresAt = Math.min(now.getTime() + LINK_LIFE_MS, retentionEnds.getTime());
    const payload = Buffer.from(JSON.stringify([jobId, accountId, expiresAt, kind])).toString('base64url');
    return {
      token: `${payload}.${this.#mac(payload)}`,
      expiresAt: new Date(expiresAt),
    };
  }

  /** @returns undefined for a token that is malformed, forged or expired. */
  verify(token: string, now: Date): LinkTarget | undefined {
    const [payload, mac, ...rest] = token.split('.');
    if (payload === undefined || mac === undefined || rest.length > 0) return undefined;
    // Compared as texts: the decoder would skip other characters in a token.
    const [given, expected] = [Buffer.from(mac), Buffer.from(this.#mac(payload))];
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    // Earlier links to PDFs have no kind.
    const [jobId, accountId, expiresAt, kind = 'pdf'] = JSON.parse(
      Buffer.from(payload, 'base64url').toString(),
    ) as [string, string, number, LinkKind?];
    return expiresAt > now.getTime() ? { kind, jobId, accountId, expiresAt } : undefined;
  }

  #mac(payload: string): string {
    return createHmac('sha256', this.#key).update(payload).digest('base64url');
  }
}
