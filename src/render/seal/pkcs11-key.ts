import { execFile } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { z } from 'zod';
import type { CmsSigner } from './build-cms.ts';

/** The file of a key that is in a hardware module; in words that follow "It ". */
const configuration = z.strictObject({
  /** The library of the module's maker (PKCS #11). */
  module: z.string().min(1),
  token: z.string().min(1),
  /** Its CKA_ID, in hexadecimal digits: versions of the tool before 0.24 do not find a key by its label. */
  key: z.string().regex(/^(?:[0-9a-fA-F]{2})+$/, 'must be the id of a key in hexadecimal digits'),
  tool: z.string().min(1).default('pkcs11-tool'),
  environment: z.record(z.string(), z.string()).default({}),
});

/** Why a key of a hardware module cannot be used, for its operator. */
export class Pkcs11Fault extends Error {}

const TIMEOUT_MS = 10_000;
const MAX_REPLY_BYTES = 64 * 1024;
/** Before a hash that RSA signs (RFC 8017, 9.2): that it is SHA-256. */
const DIGEST_INFO = Buffer.from('3031300d060960864801650304020105000420', 'hex');
const PATHS = { PATH: '/usr/local/bin:/usr/bin:/bin' };
const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

export interface Pkcs11Files {
  /** JSON. */
  readonly configuration: Uint8Array;
  /** Certificates in PEM: that of the key first, then those of its authorities. */
  readonly certificates: Uint8Array | undefined;
  readonly pin: string;
}

/**
 * A key in a hardware module. It signs by OpenSC's pkcs11-tool, which loads the module in a process of its own.
 *
 * @throws Pkcs11Fault.
 */
export function pkcs11Signer({ configuration: json, certificates, pin }: Pkcs11Files): CmsSigner {
  const { module, token, key, tool, environment } = configurationOf(json);
  const [own, ...chain] = (
    Buffer.from(certificates ?? [])
      .toString()
      .match(PEM) ?? []
  ).map(certificateOf);
  if (own === undefined) throw new Pkcs11Fault('has no certificate in the file beside it (.pem)');
  const isRsa = own.publicKey.asymmetricKeyType === 'rsa';
  const how = isRsa ? ['RSA-PKCS'] : ['ECDSA', '--signature-format', 'openssl'];
  const args = ['--module', module, '--token-label', token, '--id', key, '--login', '--pin', 'env:PIN'];
  return {
    certificate: own.raw,
    certificateChain: chain.map(({ raw }) => raw),
    keyType: isRsa ? 'RSA' : 'EC',
    async sign(data) {
      const hash = createHash('sha256').update(data).digest();
      const input = isRsa ? Buffer.concat([DIGEST_INFO, hash]) : hash;
      const env = { ...PATHS, ...environment, PIN: pin };
      return await run(tool, [...args, '--sign', '--mechanism', ...how], input, env);
    },
  };
}

/** @throws Pkcs11Fault where the program is not there, or does not load the module. */
export async function tryModule(json: Uint8Array): Promise<void> {
  const { module, tool, environment } = configurationOf(json);
  await run(tool, ['--module', module, '--show-info'], new Uint8Array(), { ...PATHS, ...environment });
}

function configurationOf(json: Uint8Array): z.output<typeof configuration> {
  try {
    return configuration.parse(JSON.parse(Buffer.from(json).toString()));
  } catch (error) {
    const why =
      error instanceof z.ZodError ? z.prettifyError(error).replace(/\s*\n\s*/g, ' ') : 'it is no JSON';
    throw new Pkcs11Fault(`is not {"module": …, "token": …, "key": …}: ${why}`);
  }
}

function certificateOf(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new Pkcs11Fault('has something in the file beside it (.pem) that is no certificate');
  }
}

function run(tool: string, args: string[], input: Uint8Array, env: Record<string, string>): Promise<Buffer> {
  const options = { env, timeout: TIMEOUT_MS, maxBuffer: MAX_REPLY_BYTES, encoding: 'buffer' as const };
  return new Promise((resolve, reject) => {
    const child = execFile(tool, args, options, (error, stdout, stderr) => {
      if (error === null && stdout.byteLength > 0) resolve(stdout);
      else reject(new Pkcs11Fault(`is not used by ${tool}: ${wordsFor(error, stderr)}`));
    });
    child.stdin!.on('error', () => undefined).end(input);
  });
}

function wordsFor(error: (Error & { code?: unknown; killed?: boolean }) | null, stderr: Buffer): string {
  if (error?.code === 'ENOENT') return 'there is no such program, which the package opensc has';
  if (error?.killed === true) return `it has taken more than ${TIMEOUT_MS / 1000} s`;
  const last = stderr
    .toString('latin1')
    .split('\n')
    .find((line) => /^error|cannot|fail|not found/i.test(line));
  return (last ?? error?.message.split('\n')[0] ?? 'it has signed nothing')
    .replace(/[^\x20-\x7e]/g, ' ')
    .slice(0, 300);
}
