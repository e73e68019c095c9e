import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A certificate with its key, as files. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

interface IdentityOptions {
  /** Default `digitalSignature,nonRepudiation`. */
  readonly keyUsage?: string;
  readonly extendedKeyUsage?: string;
  /** 0: it has expired once it is there. Default 30. */
  readonly days?: number;
  /** When it begins to be valid, as openssl writes times: `20990101000000Z`; it ends with that year. Default now. */
  readonly begins?: string;
  /** Of openssl's genpkey. Default a key of P-256. */
  readonly algorithm?: readonly string[];
  /** A key that is there. */
  readonly key?: string;
  /** Who issues the certificate. Default the authority. */
  readonly by?: Identity;
  /** Extensions besides, as openssl writes them. */
  readonly extensions?: readonly string[];
}

interface KeyOptions {
  readonly password?: string;
  readonly accounts?: string;
  /** Certificates besides, as a file. Default that of the authority. */
  readonly chain?: string;
  /** Arguments of `openssl pkcs12` besides. */
  readonly how?: readonly string[];
}

const P256 = ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256'];

/** An authority of the tests' own, and a folder with keys that seal; all by openssl. */
export class SealKeys {
  /** What PLATEN_SEAL_KEYS_DIR names. */
  readonly folder: string;
  /** The authority's certificate, as a file. */
  readonly authority: string;
  readonly root: Identity;
  #count = 0;

  private constructor(folder: string) {
    this.folder = folder;
    this.authority = join(folder, 'authority.pem');
    this.root = { cert: this.authority, key: join(folder, 'authority.key') };
  }

  static async make(): Promise<SealKeys> {
    const keys = new SealKeys(await mkdtemp(join(tmpdir(), 'platen-seal-keys-')));
    await openssl('genpkey', ...P256, '-out', keys.root.key);
    const usage = ['-addext', 'keyUsage=critical,keyCertSign,cRLSign'];
    const request = ['req', '-x509', '-key', keys.root.key, '-subj', '/CN=Authority of tests', '-days', '30'];
    await openssl(...request, ...usage, '-out', keys.authority);
    return keys;
  }

  async identity(name: string, options: IdentityOptions = {}): Promise<Identity> {
    this.#count += 1;
    const { days = 30, algorithm = P256, keyUsage = 'digitalSignature,nonRepudiation' } = options;
    const at = join(this.folder, `identity-${this.#count}`);
    const key = options.key ?? `${at}.key`;
    if (options.key === undefined) await openssl('genpkey', ...algorithm, '-out', key);
    const { extendedKeyUsage, extensions = [], by = this.root } = options;
    const lines = [`keyUsage=critical,${keyUsage}`, ...extensions];
    if (extendedKeyUsage !== undefined) lines.push(`extendedKeyUsage=critical,${extendedKeyUsage}`);
    await writeFile(`${at}.ext`, `${lines.join('\n')}\n`);
    await openssl('req', '-new', '-key', key, '-subj', `/CN=${name}`, '-out', `${at}.csr`);
    if (options.begins !== undefined) {
      await issueLater(at, by, options.begins);
      return { cert: `${at}.pem`, key };
    }
    const issued = ['x509', '-req', '-in', `${at}.csr`, '-days', String(days), '-extfile', `${at}.ext`];
    const from = ['-CA', by.cert, '-CAkey', by.key, '-set_serial', String(1000 + this.#count)];
    await openssl(...issued, ...from, '-out', `${at}.pem`);
    return { cert: `${at}.pem`, key };
  }

  /** Puts a key into the folder. @param accounts default: every account. */
  async add(
    keyId: string,
    { cert, key }: Identity,
    { password = 'pass wörd', accounts = '*', chain = this.authority, how = [] }: KeyOptions = {},
  ): Promise<void> {
    const file = join(this.folder, `${keyId}.password`);
    await writeFile(file, `${password}\n`);
    await writeFile(join(this.folder, `${keyId}.accounts`), `${accounts}\n`);
    const from = ['-inkey', key, '-in', cert, '-certfile', chain];
    const out = ['-passout', `file:${file}`, '-out', join(this.folder, `${keyId}.p12`)];
    await openssl('pkcs12', '-export', ...from, ...how, ...out);
  }

  /** Puts a file into the folder as it is. */
  async put(keyId: string, file: Uint8Array, password: string): Promise<void> {
    await writeFile(join(this.folder, `${keyId}.p12`), file);
    await writeFile(join(this.folder, `${keyId}.accounts`), '*');
    await this.setPassword(keyId, password);
  }

  async setPassword(keyId: string, password: string): Promise<void> {
    await writeFile(join(this.folder, `${keyId}.password`), password);
  }

  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** `openssl x509` of version 3.0 has no option for the beginning; `openssl ca` wants a file that lists what it has issued. */
async function issueLater(at: string, by: Identity, begins: string): Promise<void> {
  await writeFile(`${at}.index`, '');
  const settings = [
    `database=${at}.index`,
    `new_certs_dir=${dirname(at)}`,
    'default_md=sha256',
    'policy=any',
    'rand_serial=yes',
  ];
  const lines = ['[ca]', 'default_ca=own', '[own]', ...settings, '[any]', 'commonName=supplied'];
  await writeFile(`${at}.cnf`, `${lines.join('\n')}\n`);
  const period = ['-startdate', begins, '-enddate', `${begins.slice(0, 4)}1231235959Z`];
  const files = ['-config', `${at}.cnf`, '-in', `${at}.csr`, '-extfile', `${at}.ext`, '-out', `${at}.pem`];
  await openssl('ca', '-batch', '-notext', ...files, '-cert', by.cert, '-keyfile', by.key, ...period);
}

/** @returns what it prints. */
export async function openssl(...args: string[]): Promise<string> {
  return (await run('openssl', args)).stdout;
}

/**
 * The signature of a PDF, and what openssl says of it: who has signed, and that it is of all bytes besides.
 *
 * @throws where openssl does not find it valid.
 */
export async function opensslVerifies(pdf: Uint8Array, authority: string): Promise<void> {
  const { signed, cms } = signatureOf(pdf);
  const folder = await mkdtemp(join(tmpdir(), 'platen-signature-'));
  try {
    const [content, signature] = [join(folder, 'content'), join(folder, 'signature')];
    await writeFile(content, signed);
    await writeFile(signature, cms);
    const verify = ['cms', '-verify', '-binary', '-inform', 'DER', '-in', signature, '-content', content];
    await openssl(...verify, '-CAfile', authority, '-purpose', 'any', '-out', join(folder, 'out'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What the byte range of a PDF leaves, which is the signature, and what it covers. */
export function signatureOf(pdf: Uint8Array) {
  const file = Buffer.from(pdf);
  const range = /\/ByteRange \[ ?0 (\d+) (\d+) (\d+) *\]/.exec(file.toString('latin1'));
  if (range === null) throw new Error('There is no signature.');
  const [begin = 0, end = 0, rest = 0] = range.slice(1).map(Number);
  if (end + rest !== file.length) throw new Error('The signature is not of the whole file.');
  const digits = file.toString('latin1', begin + 1, end - 1);
  if (!/^(?:[0-9A-F]{2})+$/.test(digits)) throw new Error('The signature is not hexadecimal.');
  const padded = Buffer.from(digits, 'hex');
  // The length of the outermost value of DER, which has two bytes.
  if (padded[0] !== 0x30 || padded[1] !== 0x82) throw new Error('The signature is no DER.');
  return {
    begin,
    end,
    cms: padded.subarray(0, 4 + padded.readUInt16BE(2)),
    signed: Buffer.concat([file.subarray(0, begin), file.subarray(end)]),
  };
}

let shared: Promise<SealKeys> | undefined;

/** With the key `invoices` of Ada, for every account. The same for all tests of this process; removed after the last. */
export function sharedSealKeys(): Promise<SealKeys> {
  shared ??= SealKeys.make().then(async (keys) => {
    await keys.add('invoices', await keys.identity('Ada'));
    return keys;
  });
  return shared;
}

if (typeof after === 'function') after(async () => (await shared)?.close());
