import { readFile } from 'node:fs/promises';

/** The PEM texts with which a client authenticates to a server over TLS. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/** The paths of a certificate and its key, by the names of the settings; both or none. */
type CertificateFiles<Cert extends string, Key extends string> = Readonly<
  Partial<Record<Cert | Key, string | undefined>>
>;

/** @returns undefined when the settings are not set. @throws Error naming the one whose file cannot be read. */
export async function readClientCertificate<Cert extends string, Key extends string>(
  files: CertificateFiles<Cert, Key>,
  certSetting: Cert,
  keySetting: Key,
): Promise<ClientCertificate | undefined> {
  const { [certSetting]: certFile, [keySetting]: keyFile } = files;
  if (certFile === undefined || keyFile === undefined) return undefined;
  const [cert, key] = await Promise.all([readPem(certSetting, certFile), readPem(keySetting, keyFile)]);
  return { cert, key };
}

/** @throws Error naming the setting when its file cannot be read. */
export async function readPem(setting: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new Error(`${setting} ${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** The certificate for the database of MONGODB_URI, if it is not embedded. @throws as `readClientCertificate`. */
export async function mongodbCertificate(
  config: CertificateFiles<'MONGODB_TLS_CERT', 'MONGODB_TLS_KEY'> & {
    readonly MONGODB_URI?: string | undefined;
  },
): Promise<ClientCertificate | undefined> {
  if (config.MONGODB_URI === undefined) return undefined;
  return readClientCertificate(config, 'MONGODB_TLS_CERT', 'MONGODB_TLS_KEY');
}
