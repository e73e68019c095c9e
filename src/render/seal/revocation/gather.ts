import { Certificate, type SignedData } from 'pkijs';
import { certificateOf, onlySigner, signedDataOf } from '../check-cms.ts';
import { OID } from '../oids.ts';
import {
  addressesOf,
  certificateOfDer,
  isIssuedBy,
  needsNoCheck,
  type SealCertificate,
} from './certificate.ts';
import { checkCrl } from './crl.ts';
import { RevocationFault, Revoked } from './faults.ts';
import { checkOcsp, ocspRequest } from './ocsp.ts';

/** What a server is asked for: whether a certificate is good, a revocation list, or the certificate of an issuer. */
export interface RevocationAsk {
  readonly id: string;
  readonly kind: 'ocsp' | 'crl' | 'issuer';
  readonly url: string;
  /** Of a request of OCSP. */
  readonly body?: Uint8Array;
}

/** What came of it: anything. */
export type RevocationAnswer = { readonly id: string } & (
  | { readonly bytes: Uint8Array }
  /** In words, as a sentence. */
  | { readonly failed: string; readonly permanent: boolean }
);

/** A signature whose certificates are to be proven, and what servers have said so far. */
export interface GatherCall {
  /** With its time stamp. */
  readonly signature: Uint8Array;
  readonly answers: readonly RevocationAnswer[];
  /** In milliseconds since 1970. */
  readonly now: number;
}

/** All that a reader needs to check a signature later: DER. */
export interface ValidationData {
  readonly certificates: readonly Uint8Array[];
  readonly ocsps: readonly Uint8Array[];
  readonly crls: readonly Uint8Array[];
}

export type Gathered =
  | { readonly asks: readonly RevocationAsk[] }
  | { readonly data: ValidationData }
  /** As a sentence. `permanent`: another try would meet the same. */
  | { readonly fault: string; readonly permanent: boolean };

/** Of a signature and its time stamp, with all their issuers. */
const MAX_CERTIFICATES = 16;
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * What proves that neither a certificate of a signature nor one of its time stamp is revoked, up to the roots, or what has to
 * be asked for that. Whoever calls it asks, and calls it again with the answers; it keeps nothing.
 */
export function gatherValidation({ signature, answers, now }: GatherCall): Gathered {
  const gathering = new Gathering(answers, now);
  try {
    return gathering.of(signature);
  } catch (error) {
    if (error instanceof Incomplete) return { fault: error.message, permanent: error.permanent };
    return { fault: 'The certificates of the signature cannot be read.', permanent: true };
  }
}

class Incomplete extends Error {
  readonly permanent: boolean;

  constructor(message: string, permanent: boolean) {
    super(message);
    this.permanent = permanent;
  }
}

class Gathering {
  readonly #answers: ReadonlyMap<string, RevocationAnswer>;
  readonly #now: number;
  readonly #asks = new Map<string, RevocationAsk>();
  /** Certificates that may be an issuer. */
  readonly #known: SealCertificate[] = [];
  readonly #chain = new Map<string, SealCertificate>();
  readonly #ocsps = new Map<string, Uint8Array>();
  readonly #crls = new Map<string, Uint8Array>();

  constructor(answers: readonly RevocationAnswer[], now: number) {
    this.#answers = new Map(answers.map((answer) => [answer.id, answer]));
    this.#now = now;
  }

  of(signature: Uint8Array): Gathered {
    const signed = signedDataOf(signature);
    for (const one of [signed, timestampOf(signed)]) this.#add(one);
    for (const certificate of this.#chain.values()) {
      if (this.#chain.size > MAX_CERTIFICATES)
        throw new Incomplete(`The signature has more than ${MAX_CERTIFICATES} certificates.`, true);
      if (!isIssuedBy(certificate, certificate)) this.#prove(certificate);
    }
    if (this.#asks.size > 0) return { asks: [...this.#asks.values()] };
    const data = {
      certificates: [...this.#chain.values()].map(({ der }) => der),
      ocsps: [...this.#ocsps.values()],
      crls: [...this.#crls.values()],
    };
    const bytes = Object.values(data)
      .flat()
      .reduce((sum, { byteLength }) => sum + byteLength, 0);
    if (bytes > MAX_BYTES)
      throw new Incomplete(`What proves the certificates has more than ${MAX_BYTES} bytes.`, true);
    return { data };
  }

  #add(signed: SignedData): void {
    const certificates = (signed.certificates ?? []).filter((one) => one instanceof Certificate);
    this.#known.push(...certificates.map(reread));
    this.#enter(reread(certificateOf(signed, onlySigner(signed))));
  }

  /** Makes it one whose proof is needed. */
  #enter(certificate: SealCertificate): void {
    const name = certificate.x509.fingerprint256;
    if (!this.#chain.has(name)) this.#chain.set(name, certificate);
  }

  #prove(certificate: SealCertificate): void {
    const addresses = addressesOf(certificate);
    const failures: Failure[] = [];
    const issuer = this.#issuerOf(certificate, addresses.issuer, failures);
    if (issuer === 'asked') return;
    if (issuer === undefined) throw unproven(certificate, 'its issuer is not known', failures);
    this.#enter(issuer);
    if (needsNoCheck(certificate)) return;
    const name = certificate.x509.fingerprint256;
    const body = addresses.ocsp.length > 0 ? ocspRequest(certificate, issuer) : undefined;
    const asks: RevocationAsk[] = [
      ...addresses.ocsp.map((url) => ({ id: `ocsp ${url} ${name}`, kind: 'ocsp' as const, url, body })),
      ...addresses.crl.map((url) => ({ id: `crl ${url}`, kind: 'crl' as const, url })),
    ].map(({ body, ...ask }: RevocationAsk & { body?: Uint8Array | undefined }) =>
      body === undefined ? ask : { ...ask, body },
    );
    if (asks.length === 0) throw unproven(certificate, 'it names neither OCSP nor a revocation list', []);
    for (const ask of asks) {
      const bytes = this.#bytesOf(ask, failures);
      if (bytes === 'asked') return;
      if (bytes !== undefined && this.#isProof(ask, bytes, certificate, issuer, failures)) return;
    }
    throw unproven(certificate, undefined, failures);
  }

  #isProof(
    { kind, url }: RevocationAsk,
    bytes: Uint8Array,
    certificate: SealCertificate,
    issuer: SealCertificate,
    failures: Failure[],
  ): boolean {
    try {
      if (kind === 'crl') {
        checkCrl(bytes, certificate, issuer, this.#now);
        this.#crls.set(url, bytes);
      } else {
        const responder = checkOcsp(bytes, certificate, issuer, this.#now);
        if (responder !== undefined) this.#enter(responder);
        this.#ocsps.set(certificate.x509.fingerprint256, bytes);
      }
      return true;
    } catch (error) {
      if (error instanceof Revoked) throw new Incomplete(`${nameOf(certificate)} has been revoked.`, true);
      const what = kind === 'crl' ? 'The revocation list' : 'The OCSP response';
      const why = error instanceof RevocationFault ? error.message : 'cannot be read';
      failures.push({ text: `${what} of ${url} ${why}.`, permanent: true });
      return false;
    }
  }

  #issuerOf(
    certificate: SealCertificate,
    urls: readonly string[],
    failures: Failure[],
  ): SealCertificate | 'asked' | undefined {
    const known = this.#known.find((one) => isIssuedBy(certificate, one));
    if (known !== undefined) return known;
    for (const url of urls) {
      const bytes = this.#bytesOf({ id: `issuer ${url}`, kind: 'issuer', url }, failures);
      if (bytes === 'asked') return bytes;
      const found = bytes && certificatesIn(bytes).find((one) => isIssuedBy(certificate, one));
      if (found) this.#known.push(found);
      if (found) return found;
      if (bytes) failures.push({ text: `${url} has not the certificate of its issuer.`, permanent: true });
    }
    return undefined;
  }

  /** Undefined where there is no answer but a failure. */
  #bytesOf(ask: RevocationAsk, failures: Failure[]): Uint8Array | 'asked' | undefined {
    const answer = this.#answers.get(ask.id);
    if (answer === undefined) {
      this.#asks.set(ask.id, ask);
      return 'asked';
    }
    if ('bytes' in answer) return answer.bytes;
    failures.push({ text: `${ask.url} failed: ${answer.failed}`, permanent: answer.permanent });
    return undefined;
  }
}

interface Failure {
  readonly text: string;
  readonly permanent: boolean;
}

function unproven(
  certificate: SealCertificate,
  why: string | undefined,
  failures: readonly Failure[],
): Incomplete {
  const reason = why === undefined ? '' : `: ${why}`;
  const details = failures.map(({ text }) => ` ${text}`).join('');
  const message = `It is not proven that ${nameOf(certificate)} is not revoked${reason}.${details}`;
  return new Incomplete(
    message.slice(0, 1000),
    failures.every(({ permanent }) => permanent),
  );
}

function nameOf({ x509 }: SealCertificate): string {
  return `the certificate of "${x509.subject.replace(/\s*\n\s*/g, ', ').slice(0, 200)}"`;
}

function reread(certificate: Certificate): SealCertificate {
  return certificateOfDer(new Uint8Array(certificate.toSchema(false).toBER(false)));
}

/** The CMS of the time stamp of a signature. */
function timestampOf(signed: SignedData): SignedData {
  const { unsignedAttrs } = onlySigner(signed);
  const value = unsignedAttrs?.attributes.find(({ type }) => type === OID.signatureTimestamp)?.values[0];
  return signedDataOf(new Uint8Array(value!.toBER(false)));
}

/** Of a file with one, as DER, or of a CMS (RFC 5280, 4.2.2.1). */
function certificatesIn(bytes: Uint8Array): SealCertificate[] {
  try {
    const { certificates = [] } = signedDataOf(bytes);
    return certificates.filter((one) => one instanceof Certificate).map(reread);
  } catch {
    // No CMS.
  }
  try {
    return [certificateOfDer(bytes)];
  } catch {
    return [];
  }
}
