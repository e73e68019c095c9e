import { createHash } from 'node:crypto';
import { fromBER, Null, OctetString } from 'asn1js';
import {
  AlgorithmIdentifier,
  BasicOCSPResponse,
  CertID,
  OCSPRequest,
  OCSPResponse,
  Request,
  type SingleResponse,
  TBSRequest,
} from 'pkijs';
import { isSigned } from '../is-signed.ts';
import { OID } from '../oids.ts';
import {
  certificateOfDer,
  derOf,
  isForOcsp,
  isIssuedBy,
  keyBitsOf,
  type SealCertificate,
} from './certificate.ts';
import { CLOCK_SLACK_MS, RevocationFault, Revoked } from './faults.ts';

/** How certificates are named in requests, and in responses: few servers know another than the first. */
const ID_HASHES: ReadonlyMap<string, string> = new Map([
  [OID.sha1, 'sha1'],
  [OID.sha256, 'sha256'],
]);
/** Of a response that does not say when there will be another, in milliseconds. */
const MAX_AGE_MS = 24 * 3_600_000;
const STATUS = { good: 0, revoked: 1 };

/** A request (RFC 6960), without a number of its own, so that servers may respond with what they have. @returns DER. */
export function ocspRequest(certificate: SealCertificate, issuer: SealCertificate): Uint8Array {
  const algorithm = { algorithmId: OID.sha1, algorithmParams: new Null() };
  const reqCert = new CertID({
    hashAlgorithm: new AlgorithmIdentifier(algorithm),
    issuerNameHash: new OctetString({ valueHex: hashOf('sha1', derOf(issuer.parsed.subject)) }),
    issuerKeyHash: new OctetString({ valueHex: hashOf('sha1', keyBitsOf(issuer)) }),
    serialNumber: certificate.parsed.serialNumber,
  });
  const request = new OCSPRequest({
    tbsRequest: new TBSRequest({ requestList: [new Request({ reqCert })] }),
  });
  return new Uint8Array(request.toSchema(true).toBER(false));
}

/**
 * Whether a response (RFC 6960) says that a certificate is good: it is by its issuer, or by a server that the issuer has
 * named, and is of now.
 *
 * @returns the certificate of such a server. @throws Revoked; RevocationFault, whose words follow "The OCSP response"; Error
 * for what cannot be read.
 */
export function checkOcsp(
  response: Uint8Array,
  certificate: SealCertificate,
  issuer: SealCertificate,
  now: number,
): SealCertificate | undefined {
  const basic = basicOf(response);
  const responder = responderOf(basic, issuer, now);
  const { responses, producedAt } = basic.tbsResponseData;
  const single = responses.find(({ certID }) => isOf(certID, certificate, issuer));
  if (single === undefined) throw new RevocationFault('is of another certificate');
  const until = single.nextUpdate?.getTime() ?? producedAt.getTime() + MAX_AGE_MS;
  if (!(single.thisUpdate.getTime() <= now + CLOCK_SLACK_MS && now <= until))
    throw new RevocationFault('is not of now');
  const status = statusOf(single);
  if (status === STATUS.revoked) throw new Revoked();
  if (status !== STATUS.good) throw new RevocationFault('does not know the certificate');
  return responder === issuer ? undefined : responder;
}

function basicOf(response: Uint8Array): BasicOCSPResponse {
  const { result, offset } = fromBER(new Uint8Array(response).buffer);
  if (offset !== response.byteLength) throw new RevocationFault('is none');
  const { responseStatus, responseBytes } = new OCSPResponse({ schema: result });
  const status = responseStatus.valueBlock.valueDec;
  if (status !== 0) throw new RevocationFault(`has status ${status}`);
  const bytes = responseBytes?.response.valueBlock.valueHexView ?? new Uint8Array();
  return new BasicOCSPResponse({ schema: fromBER(new Uint8Array(bytes).buffer).result });
}

/** Who has signed the response and may. @throws RevocationFault. */
function responderOf(basic: BasicOCSPResponse, issuer: SealCertificate, now: number): SealCertificate {
  const { tbsResponseData, signature, signatureAlgorithm, certs = [] } = basic;
  const named = certs
    .map((one) => certificateOfDer(new Uint8Array(one.toSchema(false).toBER(false))))
    .filter((one) => isForOcsp(one) && isIssuedBy(one, issuer) && isValid(one, now));
  const bytes = signature.valueBlock.valueHexView;
  const found = [issuer, ...named].find(({ x509 }) =>
    isSigned(tbsResponseData.tbsView, bytes, signatureAlgorithm, x509.publicKey),
  );
  if (found === undefined)
    throw new RevocationFault(
      'is signed neither by the issuer of the certificate nor by whom that has named',
    );
  return found;
}

function isValid({ parsed: { notBefore, notAfter } }: SealCertificate, now: number): boolean {
  return notBefore.value.getTime() <= now && now <= notAfter.value.getTime();
}

function isOf(id: CertID, certificate: SealCertificate, issuer: SealCertificate): boolean {
  const hash = ID_HASHES.get(id.hashAlgorithm.algorithmId);
  return (
    hash !== undefined &&
    id.serialNumber.isEqual(certificate.parsed.serialNumber) &&
    hashOf(hash, derOf(issuer.parsed.subject)).equals(id.issuerNameHash.valueBlock.valueHexView) &&
    hashOf(hash, keyBitsOf(issuer)).equals(id.issuerKeyHash.valueBlock.valueHexView)
  );
}

function statusOf({ certStatus }: SingleResponse): unknown {
  return (certStatus as { readonly idBlock?: { readonly tagNumber: number } }).idBlock?.tagNumber;
}

function hashOf(algorithm: string, bytes: Uint8Array): Buffer {
  return createHash(algorithm).update(bytes).digest();
}
