import { fromBER } from 'asn1js';
import { AlgorithmIdentifier } from 'pkijs';
import { isSigned } from '../is-signed.ts';
import { derOf, type SealCertificate } from './certificate.ts';
import { type DerValue, derValues, TAG, timeOf } from './der.ts';
import { CLOCK_SLACK_MS, RevocationFault, Revoked } from './faults.ts';

/** Object identifiers of extensions, as DER has them. */
const ISSUING_DISTRIBUTION_POINT = '551d1c';
const DELTA_INDICATOR = '551d1b';
/** Members of an issuing distribution point, by their tags (RFC 5280, 5.2.5). */
const SCOPE = { users: 0x81, authorities: 0x82, someReasons: 0x83, indirect: 0x84, attributes: 0x85 };

/**
 * Whether a revocation list (RFC 5280) says that a certificate is not revoked: it is by the issuer, is of now, and is whole.
 *
 * @throws Revoked; RevocationFault, whose words follow "The revocation list"; RangeError for what is no DER.
 */
export function checkCrl(
  crl: Uint8Array,
  certificate: SealCertificate,
  issuer: SealCertificate,
  now: number,
): void {
  const [list, more] = derValues(crl);
  const [tbs, algorithm, signature] = derValues(list?.content ?? new Uint8Array());
  if (tbs?.tag !== TAG.sequence || algorithm === undefined || signature === undefined || more !== undefined)
    throw new RevocationFault('is none');
  const { issuerName, thisUpdate, nextUpdate, revoked, extensions } = fieldsOf(tbs);
  if (!derOf(issuer.parsed.subject).equals(issuerName.whole))
    throw new RevocationFault('is not of the issuer of the certificate');
  const signedBy = new AlgorithmIdentifier({
    schema: fromBER(new Uint8Array(algorithm.whole).buffer).result,
  });
  // After the number of bits of the last byte that are not used.
  if (!isSigned(tbs.whole, signature.content.subarray(1), signedBy, issuer.x509.publicKey))
    throw new RevocationFault('is not signed by the issuer of the certificate');
  const [from = Number.NaN, until = Number.NaN] = [timeOf(thisUpdate), nextUpdate && timeOf(nextUpdate)];
  if (!(from <= now + CLOCK_SLACK_MS && now <= until)) throw new RevocationFault('is not of now');
  requireScope(extensions, certificate);
  const serial = Buffer.from(certificate.parsed.serialNumber.valueBlock.valueHexView);
  for (const entry of derValues(revoked?.content ?? new Uint8Array())) {
    const [number] = derValues(entry.content);
    if (number !== undefined && serial.equals(number.content)) throw new Revoked();
  }
}

function fieldsOf(tbs: DerValue) {
  const fields = [...derValues(tbs.content)];
  if (fields[0]?.tag === TAG.integer) fields.shift();
  const [, issuerName, thisUpdate, ...rest] = fields;
  if (issuerName === undefined || thisUpdate === undefined) throw new RevocationFault('is none');
  return {
    issuerName,
    thisUpdate,
    nextUpdate: rest.find(({ tag }) => tag === TAG.utcTime || tag === TAG.generalizedTime),
    revoked: rest.find(({ tag }) => tag === TAG.sequence),
    extensions: rest.find(({ tag }) => tag === 0xa0),
  };
}

/** @throws RevocationFault for a list that says nothing of such a certificate. */
function requireScope(extensions: DerValue | undefined, { x509 }: SealCertificate): void {
  const [all] = derValues(extensions?.content ?? new Uint8Array());
  for (const extension of derValues(all?.content ?? new Uint8Array())) {
    const parts = [...derValues(extension.content)];
    const id = Buffer.from(parts[0]?.content ?? []).toString('hex');
    if (id === DELTA_INDICATOR) throw new RevocationFault('has changes alone');
    if (id !== ISSUING_DISTRIBUTION_POINT) continue;
    const [point] = derValues(parts.at(-1)!.content);
    const given = new Set([...derValues(point?.content ?? new Uint8Array())].map(({ tag }) => tag));
    const others = x509.ca ? SCOPE.users : SCOPE.authorities;
    if ([others, SCOPE.someReasons, SCOPE.indirect, SCOPE.attributes].some((tag) => given.has(tag)))
      throw new RevocationFault('is of other certificates or of some reasons');
  }
}
