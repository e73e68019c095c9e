import { createHash } from 'node:crypto';
import { fromBER, OctetString } from 'asn1js';
import {
  Attribute,
  type Certificate,
  ContentInfo,
  ExtKeyUsage,
  SignedAndUnsignedAttributes,
  type SignerInfo,
  TimeStampResp,
  TSTInfo,
} from 'pkijs';
import {
  attributeOf,
  CmsFault,
  certificateOf,
  checkCms,
  onlySigner,
  requireSignedBy,
  requireValid,
  signedDataOf,
  subjectOf,
} from './check-cms.ts';
import { HASHES, OID } from './oids.ts';

/** What a time-stamp authority says. */
export interface Timestamp {
  /** In milliseconds since 1970. */
  readonly time: number;
  /** The subject of its certificate, as one line. */
  readonly authority: string;
}

/** A CMS whose signature is to have a time stamp, and the response of an authority: anything. */
export interface StampCall {
  readonly cms: Uint8Array;
  /** Which the CMS signs; SHA-256. */
  readonly digest: Uint8Array;
  readonly response: Uint8Array;
  /** Of the request. */
  readonly nonce: Uint8Array;
  /** In milliseconds since 1970. */
  readonly now: number;
}

/** Granted, perhaps with modifications (RFC 3161, 2.4.2). */
const GRANTED: readonly number[] = [0, 1];

/**
 * Puts a time stamp (RFC 3161) into a CMS, as an attribute that is not signed. It has to be of the signature of the CMS and of
 * the request, by one authority whose certificate is in it, is valid now and is for time stamps.
 *
 * @returns DER. @throws CmsFault, whose words follow "The time stamp".
 */
export function stampCms({ cms, digest, response, nonce, now }: StampCall) {
  const signed = signedDataOf(cms);
  const signer = onlySigner(signed);
  const token = tokenOf(response);
  const timestamp = checkToken(token, signer, nonce, now);
  const attribute = new Attribute({ type: OID.signatureTimestamp, values: [token.toSchema()] });
  signer.unsignedAttrs = new SignedAndUnsignedAttributes({ type: 1, attributes: [attribute] });
  const content = new ContentInfo({ contentType: OID.signedData, content: signed.toSchema(true) });
  const stamped = new Uint8Array(content.toSchema().toBER(false));
  // What is signed has been written anew.
  checkCms(stamped, digest, now);
  return { cms: stamped, timestamp };
}

/** SHA-256 of the signature of a CMS, which is what a time stamp is of. @throws CmsFault. */
export function signatureHash(cms: Uint8Array): Uint8Array {
  return hashOf(onlySigner(signedDataOf(cms)));
}

function hashOf({ signature }: SignerInfo): Buffer {
  return createHash('sha256').update(signature.valueBlock.valueHexView).digest();
}

function tokenOf(response: Uint8Array): ContentInfo {
  const { result, offset } = fromBER(new Uint8Array(response).buffer);
  if (offset !== response.byteLength) throw new CmsFault('is not in the response, which is no DER');
  const { status, timeStampToken } = new TimeStampResp({ schema: result });
  if (!GRANTED.includes(status.status)) throw new CmsFault(`was refused with status ${status.status}`);
  if (timeStampToken === undefined) throw new CmsFault('is not in the response');
  return timeStampToken;
}

function checkToken(token: ContentInfo, stamped: SignerInfo, nonce: Uint8Array, now: number): Timestamp {
  const signed = signedDataOf(new Uint8Array(token.toSchema().toBER(false)));
  const { eContentType, eContent } = signed.encapContentInfo;
  if (eContentType !== OID.timestampInfo || eContent === undefined) throw new CmsFault('is none');
  const content = Buffer.from(eContent.getValue());
  const info = new TSTInfo({ schema: fromBER(eContent.getValue()).result });
  const { hashAlgorithm, hashedMessage } = info.messageImprint;
  if (
    hashAlgorithm.algorithmId !== OID.sha256 ||
    !hashOf(stamped).equals(hashedMessage.valueBlock.valueHexView)
  )
    throw new CmsFault('is of something else');
  if (info.nonce === undefined || !Buffer.from(nonce).equals(info.nonce.valueBlock.valueHexView))
    throw new CmsFault('is of another request (its nonce)');
  const signer = onlySigner(signed);
  const certificate = certificateOf(signed, signer);
  requireValid(certificate, now);
  requireStamping(certificate);
  const algorithm = HASHES.get(signer.digestAlgorithm.algorithmId);
  const found = attributeOf(signer, OID.messageDigest);
  if (algorithm === undefined || !(found instanceof OctetString))
    throw new CmsFault('has no message digest of a known hash');
  if (!createHash(algorithm).update(content).digest().equals(found.valueBlock.valueHexView))
    throw new CmsFault('is signed for other content');
  requireSignedBy(signer, certificate);
  return { time: info.genTime.getTime(), authority: subjectOf(certificate) };
}

function requireStamping({ extensions }: Certificate): void {
  const usage: unknown = extensions?.find(({ extnID }) => extnID === OID.extendedKeyUsage)?.parsedValue;
  if (!(usage instanceof ExtKeyUsage) || !usage.keyPurposes.includes(OID.timestamping))
    throw new CmsFault('is by a certificate that is not for time stamps');
}
