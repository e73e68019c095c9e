import { createHash } from 'node:crypto';
import { fromBER, ObjectIdentifier, OctetString, Sequence, Set as SetOf } from 'asn1js';
import {
  AlgorithmIdentifier,
  Attribute,
  Certificate,
  ContentInfo,
  EncapsulatedContentInfo,
  IssuerAndSerialNumber,
  SignedAndUnsignedAttributes,
  SignedData,
  SignerInfo,
} from 'pkijs';
import { OID } from './oids.ts';

/** A key that signs, with its certificate and those of its authorities; DER. */
export interface CmsSigner {
  readonly certificate: Uint8Array;
  readonly certificateChain: readonly Uint8Array[];
  readonly keyType: 'RSA' | 'EC';
  sign(data: Uint8Array, digest: 'SHA-256'): Promise<Uint8Array>;
}

/**
 * Makes the signature of a PDF: CMS, detached, with the attributes that PAdES wants (ETSI EN 319 142-1, 6.3) and without the
 * time of signing, which that forbids here.
 *
 * @param digest SHA-256 of what is signed. @returns DER.
 */
export async function buildCms(digest: Uint8Array, signer: CmsSigner): Promise<Uint8Array> {
  const certificate = new Certificate({ schema: parsed(signer.certificate) });
  const hash = createHash('sha256').update(signer.certificate).digest();
  const certificateId = new Sequence({ value: [new OctetString({ valueHex: exact(hash) })] });
  const attributes = [
    attribute(OID.contentType, new ObjectIdentifier({ value: OID.data })),
    attribute(OID.messageDigest, new OctetString({ valueHex: exact(digest) })),
    attribute(OID.signingCertificateV2, new Sequence({ value: [new Sequence({ value: [certificateId] })] })),
  ].toSorted((one, other) => Buffer.compare(der(one.toSchema()), der(other.toSchema())));
  const set = new SetOf({ value: attributes.map((one) => one.toSchema()) });
  const signature = await signer.sign(der(set), 'SHA-256');
  const sha256 = new AlgorithmIdentifier({ algorithmId: OID.sha256 });
  const signed = new SignedData({
    version: 1,
    encapContentInfo: new EncapsulatedContentInfo({ eContentType: OID.data }),
    digestAlgorithms: [sha256],
    certificates: [
      certificate,
      ...signer.certificateChain.map((one) => new Certificate({ schema: parsed(one) })),
    ],
    signerInfos: [
      new SignerInfo({
        version: 1,
        sid: new IssuerAndSerialNumber({
          issuer: certificate.issuer,
          serialNumber: certificate.serialNumber,
        }),
        digestAlgorithm: sha256,
        signedAttrs: new SignedAndUnsignedAttributes({ type: 0, attributes }),
        signatureAlgorithm: new AlgorithmIdentifier({
          algorithmId: signer.keyType === 'RSA' ? OID.sha256WithRsa : OID.sha256WithEcdsa,
        }),
        signature: new OctetString({ valueHex: exact(signature) }),
      }),
    ],
  });
  return der(new ContentInfo({ contentType: OID.signedData, content: signed.toSchema(true) }).toSchema());
}

function attribute(type: string, value: ObjectIdentifier | OctetString | Sequence): Attribute {
  return new Attribute({ type, values: [value] });
}

function parsed(bytes: Uint8Array) {
  return fromBER(exact(bytes)).result;
}

function der(value: { toBER(sizeOnly: boolean): ArrayBuffer }): Uint8Array {
  return new Uint8Array(value.toBER(false));
}

/** A buffer with these bytes alone. */
function exact(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
