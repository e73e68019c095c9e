import { constants, type KeyObject, verify } from 'node:crypto';
import { type AlgorithmIdentifier, RSASSAPSSParams } from 'pkijs';
import { HASHES, OID } from './oids.ts';

/** Of keys that sign here. */
export const KEY_TYPES: readonly (string | undefined)[] = ['rsa', 'rsa-pss', 'ec'];

/**
 * Whether a signature is by a key, of RSA or EC.
 *
 * @param otherHash where the algorithm names none.
 */
export function isSigned(
  data: Uint8Array,
  signature: Uint8Array,
  { algorithmId, algorithmParams }: AlgorithmIdentifier,
  key: KeyObject,
  otherHash?: string,
): boolean {
  if (!KEY_TYPES.includes(key.asymmetricKeyType)) return false;
  const isPss = algorithmId === OID.rsaPss;
  const named = isPss
    ? new RSASSAPSSParams({ schema: algorithmParams }).hashAlgorithm.algorithmId
    : algorithmId;
  const hash = HASHES.get(named) ?? (otherHash === undefined ? undefined : HASHES.get(otherHash));
  const padding = isPss
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO }
    : {};
  return hash !== undefined && verify(hash, data, { key, ...padding }, signature);
}
