/**
 * The program of the process that holds keys: it reads a key from its folder for each signature, and sees nothing of the PDF
 * but its digest.
 */

import { randomBytes, verify, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { P12Signer } from '@libpdf/core';
import { serve } from '../../infra/sandbox/serve.ts';
import { ACCOUNTS, accountsIn, isAssigned } from './assigned-keys.ts';
import { buildCms, type CmsSigner } from './build-cms.ts';
import { CmsFault, checkCms, type Signatory } from './check-cms.ts';
import { Pkcs11Fault, pkcs11Signer, tryModule } from './pkcs11-key.ts';

export type SignCall = {
  readonly folder: string;
  /** The name of the key: the name of its files without their endings. */
  readonly keyId: string;
} & (
  | {
      readonly account: string;
      /** SHA-256. */
      readonly digest: Uint8Array;
    }
  /** Without one: whether the program is there that a module needs. */
  | { readonly digest?: undefined }
);

export type SignReply =
  | { readonly cms: Uint8Array; readonly signatory: Signatory }
  /** There is no such key, or not for this account. */
  | { readonly refused: true }
  /** The program and the module are there. */
  | { readonly usable: true }
  /** The key cannot be used, for its operator. */
  | { readonly unusable: string };

serve<SignCall>(async (call): Promise<SignReply> => {
  const { folder, keyId } = call;
  const read = (ending: string) => readFile(join(folder, keyId + ending)).catch(() => undefined);
  if (call.digest === undefined) return await tried(keyId, await read('.pkcs11'));
  const { account, digest } = call;
  const accounts = accountsIn((await read(ACCOUNTS)) ?? new Uint8Array());
  if (!isAssigned(accounts, account)) return { refused: true };
  const [module, file, password] = [await read('.pkcs11'), await read('.p12'), await read('.password')];
  const secret = String(password ?? '').replace(/\r?\n$/, '');
  try {
    if (module !== undefined) {
      const files = { configuration: module, certificates: await read('.pem'), pin: secret };
      return await signed(digest, pkcs11Signer(files));
    }
    if (file === undefined) return { unusable: `${keyId}.p12 cannot be read` };
    const own = await withOwnCertificate(await P12Signer.create(file, secret));
    if (own === undefined) return { unusable: `no certificate in it is that of its key (${keyId}.p12)` };
    return await signed(digest, own);
  } catch (error) {
    if (error instanceof Pkcs11Fault) return { unusable: `${keyId}.pkcs11 ${error.message}` };
    if (error instanceof CmsFault) return { unusable: `its signature ${error.message}` };
    // Its words may be of the file's content.
    return {
      unusable: `${keyId}.p12 is no PKCS #12 file that ${keyId}.password opens, with a key of RSA or EC`,
    };
  }
});

async function tried(keyId: string, configuration: Uint8Array | undefined): Promise<SignReply> {
  try {
    await tryModule(configuration ?? new Uint8Array());
    return { usable: true };
  } catch (error) {
    if (error instanceof Pkcs11Fault) return { unusable: `${keyId}.pkcs11 ${error.message}` };
    throw error;
  }
}

async function signed(digest: Uint8Array, signer: CmsSigner): Promise<SignReply> {
  const cms = await buildCms(digest, signer);
  return { cms, signatory: checkCms(cms, digest, Date.now()) };
}

/** The same with the certificate of its key first, wherever that is in the file; undefined where it is not there. */
async function withOwnCertificate(signer: CmsSigner): Promise<CmsSigner | undefined> {
  const data = randomBytes(32);
  const signature = await signer.sign(data, 'SHA-256');
  const all = [signer.certificate, ...signer.certificateChain];
  const certificate = all.find((one) =>
    verify('sha256', data, new X509Certificate(one).publicKey, signature),
  );
  if (certificate === undefined) return undefined;
  return {
    certificate,
    certificateChain: all.filter((one) => one !== certificate),
    keyType: signer.keyType,
    sign: (...what) => signer.sign(...what),
  };
}
