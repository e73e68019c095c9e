import { createHash, createPublicKey, X509Certificate } from 'node:crypto';
import { type AsnType, BitString, fromBER, ObjectIdentifier, OctetString, Sequence } from 'asn1js';
import { Certificate, ContentInfo, IssuerAndSerialNumber, SignedData, type SignerInfo } from 'pkijs';
import { isSigned, KEY_TYPES } from './is-signed.ts';
import { HASHES, OID } from './oids.ts';

/** Who has signed. */
export interface Signatory {
  /** The subject of the certificate, as one line. */
  readonly subject: string;
  readonly issuer: string;
  /** Hexadecimal. */
  readonly serialNumber: string;
  /** When the certificate ends, in milliseconds since 1970. */
  readonly validUntil: number;
}

/** A signature that is none, in words that follow "The signature". */
export class CmsFault extends Error {}

/**
 * Whether a CMS signs a digest as PAdES wants it: detached, by one signer, whose certificate is in it, is bound by the
 * signature, is valid now and may sign, and whose key has signed the digest. Whether anybody trusts the certificate is up to
 * whoever reads the PDF.
 *
 * @param cms DER of anybody. @param digest SHA-256. @param now in milliseconds since 1970.
 * @throws CmsFault.
 */
export function checkCms(cms: Uint8Array, digest: Uint8Array, now: number): Signatory {
  const signed = signedDataOf(cms);
  if (signed.encapContentInfo.eContentType !== OID.data) throw new CmsFault('is not one of data');
  if (signed.encapContentInfo.eContent !== undefined)
    throw new CmsFault('holds what it signs, and has to be detached');
  const signer = onlySigner(signed);
  const type = attributeOf(signer, OID.contentType);
  if (!(type instanceof ObjectIdentifier) || type.getValue() !== OID.data)
    throw new CmsFault('does not say that it is one of data (the signed attribute content-type)');
  const found = attributeOf(signer, OID.messageDigest);
  if (!(found instanceof OctetString)) throw new CmsFault('has no message digest');
  if (signer.digestAlgorithm.algorithmId !== OID.sha256) throw new CmsFault('has another hash than SHA-256');
  if (!Buffer.from(found.valueBlock.valueHexView).equals(digest)) throw new CmsFault('is of another digest');
  if (attributeOf(signer, OID.signingTime) !== undefined)
    throw new CmsFault('has the time of its signing as an attribute, which PAdES forbids');
  const certificate = certificateOf(signed, signer);
  requireBound(certificate, signer);
  requireValid(certificate, now);
  requireSigning(certificate);
  requireSignedBy(signer, certificate);
  const { subject, issuer, serialNumber, validTo } = new X509Certificate(derOf(certificate));
  return {
    subject: oneLine(subject),
    issuer: oneLine(issuer),
    serialNumber,
    validUntil: Date.parse(validTo),
  };
}

/** @throws CmsFault for bytes that are no signed data, or more than that. */
export function signedDataOf(cms: Uint8Array): SignedData {
  const { result, offset } = fromBER(new Uint8Array(cms).buffer);
  if (offset !== cms.byteLength) throw new CmsFault('is not DER of a CMS');
  try {
    const { contentType, content } = new ContentInfo({ schema: result });
    if (contentType === OID.signedData) return new SignedData({ schema: content });
  } catch {
    // Below.
  }
  throw new CmsFault('is not a CMS of signed data');
}

/** @throws CmsFault. */
export function onlySigner({ signerInfos }: SignedData): SignerInfo {
  const [signer, another] = signerInfos;
  if (signer === undefined || another !== undefined)
    throw new CmsFault(`has ${signerInfos.length} signers, and has to have one`);
  return signer;
}

/** The one value of a signed attribute. */
export function attributeOf({ signedAttrs }: SignerInfo, type: string): AsnType | undefined {
  return signedAttrs?.attributes.find((one) => one.type === type)?.values[0];
}

/** The signer's certificate. @throws CmsFault. */
export function certificateOf({ certificates = [] }: SignedData, { sid }: SignerInfo): Certificate {
  const found = certificates.find(
    (one): one is Certificate =>
      one instanceof Certificate &&
      sid instanceof IssuerAndSerialNumber &&
      sid.serialNumber.isEqual(one.serialNumber) &&
      sid.issuer.isEqual(one.issuer),
  );
  if (found === undefined)
    throw new CmsFault('does not hold the certificate of its signer, by issuer and serial number');
  return found;
}

/** @throws CmsFault unless the signature binds the certificate by its hash (RFC 5035). */
function requireBound(certificate: Certificate, signer: SignerInfo): void {
  const attribute = attributeOf(signer, OID.signingCertificateV2);
  const ids = attribute instanceof Sequence ? attribute.valueBlock.value[0] : undefined;
  const id = ids instanceof Sequence ? ids.valueBlock.value[0] : undefined;
  if (!(id instanceof Sequence))
    throw new CmsFault('does not bind its certificate (the signed attribute signing-certificate-v2)');
  const [first, second] = id.valueBlock.value;
  const name = first instanceof Sequence ? first.valueBlock.value[0] : undefined;
  const algorithm = HASHES.get(name instanceof ObjectIdentifier ? name.getValue() : OID.sha256);
  const hash = first instanceof Sequence ? second : first;
  if (algorithm === undefined || !(hash instanceof OctetString))
    throw new CmsFault('binds its certificate by an unknown hash');
  if (!createHash(algorithm).update(derOf(certificate)).digest().equals(hash.valueBlock.valueHexView))
    throw new CmsFault('binds another certificate than that of its signer');
}

/** @throws CmsFault. */
export function requireValid({ notBefore, notAfter }: Certificate, now: number): void {
  const [begins, ends] = [notBefore.value, notAfter.value];
  if (begins.getTime() > now)
    throw new CmsFault(`is by a certificate that is valid from ${begins.toISOString()}`);
  if (ends.getTime() < now)
    throw new CmsFault(`is by a certificate that has expired on ${ends.toISOString()}`);
}

/** @throws CmsFault. */
function requireSigning({ extensions }: Certificate): void {
  const usage: unknown = extensions?.find(({ extnID }) => extnID === OID.keyUsage)?.parsedValue;
  // The first two bits: digitalSignature and nonRepudiation.
  const first = usage instanceof BitString ? usage.valueBlock.valueHexView[0] : undefined;
  if (first !== undefined && (first & 0b1100_0000) === 0)
    throw new CmsFault('is by a certificate that may not sign (its key usage)');
}

/** @throws CmsFault unless the certificate's key has signed the attributes. */
export function requireSignedBy(
  { signedAttrs, signature, signatureAlgorithm, digestAlgorithm }: SignerInfo,
  certificate: Certificate,
): void {
  const key = createPublicKey({
    key: Buffer.from(certificate.subjectPublicKeyInfo.toSchema().toBER(false)),
    format: 'der',
    type: 'spki',
  });
  if (!KEY_TYPES.includes(key.asymmetricKeyType))
    throw new CmsFault(`is by a key of an unknown kind (${key.asymmetricKeyType})`);
  const data = signedAttrs && new Uint8Array(signedAttrs.encodedValue);
  const bytes = signature.valueBlock.valueHexView;
  if (data === undefined || !isSigned(data, bytes, signatureAlgorithm, key, digestAlgorithm.algorithmId))
    throw new CmsFault('is not by the key of its certificate');
}

/** The subject of a certificate, as one line. */
export function subjectOf(certificate: Certificate): string {
  return oneLine(new X509Certificate(derOf(certificate)).subject);
}

/** As it was read. */
function derOf(certificate: Certificate): Uint8Array {
  return new Uint8Array(certificate.toSchema(false).toBER(false));
}

function oneLine(name: string): string {
  return name.replace(/\s*\n\s*/g, ', ').slice(0, 500);
}
