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
  /** Epoch milliseconds; only of a link that was shared, which may be valid for longer than LINK_LIFE_MS. */
  readonly sharedAt?: number | undefined;
  /** Of a link that was shared, by which it is revoked; absent in links of earlier versions. */
  readonly linkId?: string | undefined;
}

type Parts = [
  jobId: string,
  accountId: string,
  expiresAt: number,
  kind?: LinkKind,
  sharedAt?: number,
  linkId?: string,
];

/** Makes and checks the tokens of `/v1/files/:token`: the holder of a token may read one file for a limited time. */
export class DownloadLinks {
  readonly #key: Buffer;
  /** Those whose links are valid, the own one first. */
  readonly #accepted: readonly Buffer[];

  /** @param secret PLATEN_SECRET, of which links have their key. @param previous PLATEN_SECRET_PREVIOUS, valid too. */
  constructor(secret: string, previous?: string) {
    this.#key = keyOf(secret);
    this.#accepted = previous === undefined ? [this.#key] : [this.#key, keyOf(previous)];
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
    return { token: this.#tokenOf([jobId, accountId, expiresAt, kind]), expiresAt: new Date(expiresAt) };
  }

  /**
   * A link to a job's PDF that its owner gives to others.
   *
   * @param ends when it expires; of the retention at the latest.
   * @param linkId by which it can be revoked; links of earlier versions have none.
   */
  share(jobId: string, accountId: string, ends: Date, now: Date, linkId: string | undefined): string {
    const [endsAt, sharedAt] = [ends.getTime(), now.getTime()];
    return this.#tokenOf(
      linkId === undefined
        ? [jobId, accountId, endsAt, 'pdf', sharedAt]
        : [jobId, accountId, endsAt, 'pdf', sharedAt, linkId],
    );
  }

  /** @returns undefined for a token that is malformed, forged or expired. */
  verify(token: string, now: Date): LinkTarget | undefined {
    const [payload, mac, ...rest] = token.split('.');
    if (payload === undefined || mac === undefined || rest.length > 0) return undefined;
    if (!this.#accepted.some((key) => isMac(mac, macOf(key, payload)))) return undefined;
    // Earlier links to PDFs have no kind.
    const [jobId, accountId, expiresAt, kind = 'pdf', sharedAt, linkId] = JSON.parse(
      Buffer.from(payload, 'base64url').toString(),
    ) as Parts;
    return expiresAt > now.getTime() ? { kind, jobId, accountId, expiresAt, sharedAt, linkId } : undefined;
  }

  #tokenOf(parts: Parts): string {
    const payload = Buffer.from(JSON.stringify(parts)).toString('base64url');
    return `${payload}.${macOf(this.#key, payload)}`;
  }
}

function keyOf(secret: string): Buffer {
  return createHmac('sha256', secret).update('platen download links v1').digest();
}

function macOf(key: Buffer, payload: string): string {
  return createHmac('sha256', key).update(payload).digest('base64url');
}

/** Compared as texts: the decoder would skip other characters in a token. */
function isMac(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
