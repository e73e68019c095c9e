/**
 * The program of the process that holds keys: it reads a key from its folder for each signature, and sees nothing of the PDF
 * but its digest.
 */

import { randomBytes, verify, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { P12Signer } from '@libpdf/core';
import { serve } from '../../infra/sandbox/serve.ts';
import { buildCms, type CmsSigner } from './build-cms.ts';
import { CmsFault, checkCms, type Signatory } from './check-cms.ts';

export interface SignCall {
  readonly folder: string;
  /** The name of the key: the name of its files without their endings. */
  readonly keyId: string;
  readonly account: string;
  /** SHA-256. */
  readonly digest: Uint8Array;
}

export type SignReply =
  | { readonly cms: Uint8Array; readonly signatory: Signatory }
  /** There is no such key, or not for this account. */
  | { readonly refused: true }
  /** The key cannot be used, for its operator. */
  | { readonly unusable: string };

/** In the list of a key's accounts: all of them. */
const EVERY_ACCOUNT = '*';

serve<SignCall>(async ({ folder, keyId, account, digest }): Promise<SignReply> => {
  const read = (ending: string) => readFile(join(folder, keyId + ending)).catch(() => undefined);
  const accounts = String((await read('.accounts')) ?? '').split(/[\s,]+/);
  if (!accounts.includes(account) && !accounts.includes(EVERY_ACCOUNT)) return { refused: true };
  const [file, password] = [await read('.p12'), await read('.password')];
  if (file === undefined) return { unusable: `${keyId}.p12 cannot be read` };
  try {
    const signer = await P12Signer.create(file, String(password ?? '').replace(/\r?\n$/, ''));
    const own = await withOwnCertificate(signer);
    if (own === undefined) return { unusable: `no certificate in it is that of its key (${keyId}.p12)` };
    const cms = await buildCms(digest, own);
    return { cms, signatory: checkCms(cms, digest, Date.now()) };
  } catch (error) {
    if (error instanceof CmsFault) return { unusable: `its signature ${error.message}` };
    // Its words may be of the file's content.
    return {
      unusable: `${keyId}.p12 is no PKCS #12 file that ${keyId}.password opens, with a key of RSA or EC`,
    };
  }
});

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
