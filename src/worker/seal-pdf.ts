import { PlatenError } from '../infra/errors/registry.ts';
import type { PdfFinisher } from '../render/pdf/finish.ts';
import { type OpenSeal, openSeal } from '../render/seal/placeholder.ts';
import type { RevocationAnswer, RevocationAsk, ValidationData } from '../render/seal/revocation/gather.ts';
import type { Seal, SealFacts } from '../render/seal/seal.ts';
import type { KeySigner, Signed } from '../render/seal/signer.ts';
import type { Job } from '../work/jobs/job.ts';
import type { askDigestServer } from '../work/seals/digest-server.ts';
import type { askTimestampAuthority } from '../work/seals/timestamp-authority.ts';

/** Seals PDFs that have a place for it. */
export interface Sealer {
  /**
   * @param pdf is changed. @returns the same, or with more after it.
   * @throws PlatenError SEAL_FAILED, TIMESTAMP_FAILED, REVOCATION_FAILED, WORKER_LOST; the signal's reason.
   */
  seal(pdf: Uint8Array, terms: SealTerms): Promise<SealedPdf>;
}

interface SealedPdf {
  readonly pdf: Uint8Array;
  readonly facts: SealFacts;
}

interface SealTerms {
  readonly seal: Seal;
  readonly job: Pick<Job, '_id' | 'accountId' | 'ownerFence' | 'attempts'>;
  /** Epoch milliseconds. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

interface SealerDeps {
  readonly signer: Pick<KeySigner, 'sign'>;
  readonly ask: (asked: Parameters<typeof askDigestServer>[1]) => Promise<Buffer>;
  readonly stamp: (
    asked: Parameters<typeof askTimestampAuthority>[1],
  ) => ReturnType<typeof askTimestampAuthority>;
  readonly askRevocation: (
    asks: readonly RevocationAsk[],
    where: { readonly deadline: number; readonly signal: AbortSignal },
  ) => Promise<RevocationAnswer[]>;
  /** Reads what a server has sent, in a process that may be killed. */
  readonly finisher: Pick<PdfFinisher, 'checkCms' | 'stampCms' | 'gatherValidation' | 'finish'>;
  /** Called with how many seals wait for a server of somebody, when it changes. */
  readonly onWaiting: (seals: number) => void;
  /** Receives `sealed` or the code of an error. */
  readonly observe: (key: 'keyId' | 'digestUrl', outcome: string) => void;
}

/** How often servers are asked for what the answers before have shown to be needed, such as the issuer of an issuer. */
const MAX_ROUNDS = 12;

export function createSealer(deps: SealerDeps): Sealer {
  const { signer, ask, stamp, askRevocation, finisher, onWaiting, observe } = deps;
  let waiting = 0;

  async function whileWaiting<T>(work: () => Promise<T>): Promise<T> {
    waiting += 1;
    onWaiting(waiting);
    try {
      return await work();
    } finally {
      waiting -= 1;
      onWaiting(waiting);
    }
  }

  /** `signatureHash`: of a CMS that had to be read. */
  async function signed(
    { digest, maxBytes }: OpenSeal,
    terms: SealTerms,
  ): Promise<Signed & { readonly signatureHash?: Uint8Array }> {
    const { seal, job, deadline, signal } = terms;
    const { keyId, digestUrl } = seal.key;
    const { account, left } = limitsOf(terms);
    if (keyId !== undefined) return await signer.sign(keyId, digest, { account, withinMs: left(), signal });
    const cms = await whileWaiting(() => ask({ url: digestUrl!, job, digest, deadline, signal }));
    if (cms.byteLength > maxBytes) throw ofServer(`has ${cms.byteLength} bytes, and may have ${maxBytes}`);
    return { cms, ...(await checked(cms, digest, terms)) };
  }

  /** @throws PlatenError SEAL_FAILED. */
  async function checked(cms: Uint8Array, digest: Uint8Array, terms: SealTerms) {
    const { account, left } = limitsOf(terms);
    const limits = { account, timeoutMs: left(), signal: terms.signal };
    const read = await finisher.checkCms({ cms, digest, now: Date.now() }, limits);
    if ('fault' in read) throw ofServer(read.fault);
    return read;
  }

  /** The same CMS with a time stamp. */
  async function stamped(cms: Uint8Array, hash: Uint8Array, open: OpenSeal, url: string, terms: SealTerms) {
    const { digest, maxBytes } = open;
    const { deadline, signal } = terms;
    const answer = await whileWaiting(() => stamp({ url, hash, deadline, signal }));
    const { account, left } = limitsOf(terms);
    const limits = { account, timeoutMs: left(), signal };
    const read = await finisher.stampCms({ cms, digest, ...answer, now: Date.now() }, limits);
    if ('fault' in read) throw ofAuthority(read.fault);
    if (read.cms.byteLength > maxBytes)
      throw ofAuthority(`makes the signature ${read.cms.byteLength} bytes, and it may have ${maxBytes}`);
    return read;
  }

  /** What proves the certificates of a signature. @throws PlatenError REVOCATION_FAILED. */
  async function validationOf(signature: Uint8Array, terms: SealTerms): Promise<ValidationData> {
    const { deadline, signal } = terms;
    const { account, left } = limitsOf(terms);
    const answers: RevocationAnswer[] = [];
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const limits = { account, timeoutMs: left(), signal };
      const found = await finisher.gatherValidation({ signature, answers, now: Date.now() }, limits);
      if ('data' in found) return found.data;
      if ('fault' in found)
        throw new PlatenError('REVOCATION_FAILED', found.fault, { permanent: found.permanent });
      answers.push(...(await whileWaiting(() => askRevocation(found.asks, { deadline, signal }))));
    }
    const message = 'The certificates of the seal name too many servers, one after the other.';
    throw new PlatenError('REVOCATION_FAILED', message, { permanent: true });
  }

  /** The PDF with all that it takes to check its seal later. */
  async function provable(pdf: Uint8Array, signature: Uint8Array, terms: SealTerms): Promise<Uint8Array> {
    const argument = await validationOf(signature, terms);
    const { account, left } = limitsOf(terms);
    const limits = { account, timeoutMs: left(), signal: terms.signal };
    return (await finisher.finish(pdf, { steps: [{ step: 'validation', argument }], ...limits })).pdf;
  }

  async function sealed(pdf: Uint8Array, terms: SealTerms): Promise<SealedPdf> {
    const { timestampUrl, level = 'B-B' } = terms.seal;
    const open = openSeal(pdf);
    const { cms, signatory, signatureHash } = await signed(open, terms);
    if (timestampUrl === undefined) return { pdf: open.close(cms), facts: { level, ...signatory } };
    const hash = signatureHash ?? (await checked(cms, open.digest, terms)).signatureHash;
    const { cms: whole, timestamp } = await stamped(cms, hash, open, timestampUrl, terms);
    const closed = open.close(whole);
    const ended = level === 'B-LT' ? await provable(closed, whole, terms) : closed;
    return { pdf: ended, facts: { level, ...signatory, timestamp } };
  }

  return {
    async seal(pdf, terms) {
      const kind = terms.seal.key.keyId === undefined ? 'digestUrl' : 'keyId';
      try {
        const done = await sealed(pdf, terms);
        observe(kind, 'sealed');
        return done;
      } catch (error) {
        observe(kind, error instanceof PlatenError ? error.code : 'SEAL_FAILED');
        throw error;
      }
    },
  };
}

function limitsOf({ job, deadline }: SealTerms) {
  return { account: job.accountId, left: () => Math.max(1, deadline - Date.now()) };
}

function ofAuthority(fault: string): PlatenError {
  const message = `The time stamp of the authority of timestampUrl ${fault}.`;
  return new PlatenError('TIMESTAMP_FAILED', message, { permanent: true });
}

function ofServer(fault: string): PlatenError {
  const message = `The signature of the server of digestUrl ${fault}.`;
  return new PlatenError('SEAL_FAILED', message, { permanent: true });
}
