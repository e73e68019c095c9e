import { X509Certificate } from 'node:crypto';
import { BitString, fromBER } from 'asn1js';
import {
  Certificate,
  CRLDistributionPoints,
  ExtKeyUsage,
  type GeneralName,
  InfoAccess,
  type RelativeDistinguishedNames,
} from 'pkijs';
import { OID } from '../oids.ts';

/** A certificate of a chain, in both readings. */
export interface SealCertificate {
  readonly der: Uint8Array;
  readonly parsed: Certificate;
  readonly x509: X509Certificate;
}

const URI = 6;
const MAX_ADDRESSES = 3;
const MAX_ADDRESS = 2048;

/** @throws Error for bytes that are no certificate. */
export function certificateOfDer(der: Uint8Array): SealCertificate {
  const parsed = new Certificate({ schema: fromBER(new Uint8Array(der).buffer).result });
  return { der, parsed, x509: new X509Certificate(der) };
}

export function isIssuedBy({ x509 }: SealCertificate, issuer: SealCertificate): boolean {
  return x509.checkIssued(issuer.x509) && x509.verify(issuer.x509.publicKey);
}

export function isForOcsp({ parsed }: SealCertificate): boolean {
  const usage = extensionOf(parsed, OID.extendedKeyUsage);
  return usage instanceof ExtKeyUsage && usage.keyPurposes.includes(OID.ocspSigning);
}

/** Of a server of OCSP: its issuer takes care that it need not be asked whether it is revoked. */
export function needsNoCheck({ parsed }: SealCertificate): boolean {
  return parsed.extensions?.some(({ extnID }) => extnID === OID.ocspNoCheck) === true;
}

/** Addresses that a certificate names; `issuer` is where the certificate of its issuer is. */
export function addressesOf({ parsed }: SealCertificate) {
  const access = extensionOf(parsed, OID.authorityInformation);
  const of = (method: string) =>
    access instanceof InfoAccess
      ? access.accessDescriptions
          .filter(({ accessMethod }) => accessMethod === method)
          .map(({ accessLocation }) => accessLocation)
      : [];
  const points = extensionOf(parsed, OID.crlDistributionPoints);
  const lists =
    points instanceof CRLDistributionPoints
      ? points.distributionPoints.flatMap(({ distributionPoint: point, reasons, cRLIssuer }) =>
          reasons === undefined && cRLIssuer === undefined && Array.isArray(point) ? point : [],
        )
      : [];
  return {
    ocsp: webAddresses(of(OID.ocsp)),
    crl: webAddresses(lists),
    issuer: webAddresses(of(OID.issuers)),
  };
}

/** Its subject, or another name, as the bytes that are compared. */
export function derOf(name: RelativeDistinguishedNames): Buffer {
  return Buffer.from(name.toSchema().toBER(false));
}

/** The bits of its public key. */
export function keyBitsOf({ parsed }: SealCertificate): Uint8Array {
  const { subjectPublicKey } = parsed.subjectPublicKeyInfo;
  return subjectPublicKey instanceof BitString ? subjectPublicKey.valueBlock.valueHexView : new Uint8Array();
}

function extensionOf({ extensions }: Certificate, id: string): unknown {
  return extensions?.find(({ extnID }) => extnID === id)?.parsedValue;
}

function webAddresses(names: readonly GeneralName[]): string[] {
  const texts = names.map(({ type, value }) => (type === URI ? String(value) : ''));
  return texts
    .filter((text) => text.length <= MAX_ADDRESS && /^https?:\/\//i.test(text) && URL.canParse(text))
    .slice(0, MAX_ADDRESSES);
}
