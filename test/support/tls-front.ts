import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { promisify } from 'node:util';

const run = promisify(execFile);
const PASSWORD = 'of-the-key-store';
const OPTIONS = ['-keyalg', 'RSA', '-validity', '2', '-storetype', 'PKCS12', '-storepass', PASSWORD];

/** A server that speaks TLS in front of one that does not, with a certificate for 127.0.0.1. */
export interface TlsFront {
  readonly port: number;
  /** The PEM of the authority that has signed its certificate, made for it alone. */
  readonly caFile: string;
  /** Connections so far whose handshake was done. */
  readonly accepted: () => number;
  close(): Promise<void>;
}

/**
 * @param port of the server behind it, on loopback.
 * @param clientAuthority PEM of who signs the certificates that clients must show; without it none is asked for.
 */
export async function startTlsFront(port: number, clientAuthority?: string): Promise<TlsFront> {
  const folder = await mkdtemp(join(tmpdir(), 'platen-test-tls-'));
  const { pfx, caFile } = await makeCertificate(folder);
  const open = new Set<TLSSocket>();
  let accepted = 0;
  const server = createServer({ pfx, passphrase: PASSWORD, ...asking(clientAuthority) }, (socket) => {
    accepted += 1;
    open.add(socket);
    const behind = connect(port, '127.0.0.1');
    socket.pipe(behind).pipe(socket);
    socket.on('error', () => behind.destroy());
    behind.on('error', () => socket.destroy());
    socket.on('close', () => {
      open.delete(socket);
      behind.destroy();
    });
  });
  // A client that does not trust it, or speaks no TLS.
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    caFile,
    accepted: () => accepted,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function asking(clientAuthority: string | undefined): TlsOptions {
  if (clientAuthority === undefined) return {};
  return { requestCert: true, rejectUnauthorized: true, ca: clientAuthority };
}

async function makeCertificate(folder: string): Promise<{ pfx: Buffer; caFile: string }> {
  const [all, own, caFile] = ['all.p12', 'server.p12', 'ca.crt'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const make = (alias: string, ...more: string[]) =>
    run('keytool', ['-genkeypair', '-alias', alias, '-keystore', all, ...OPTIONS, ...more]);
  await make('authority', '-dname', 'CN=authority of the test', '-ext', 'bc:c');
  await make('server', '-dname', 'CN=database', '-ext', 'san=ip:127.0.0.1', '-signer', 'authority');
  const from = ['-keystore', all, '-storepass', PASSWORD];
  await run('keytool', ['-exportcert', '-rfc', '-alias', 'authority', '-file', caFile, ...from]);
  await run('keytool', [
    '-importkeystore',
    ...['-srckeystore', all, '-srcstorepass', PASSWORD, '-srcalias', 'server'],
    ...['-destkeystore', own, '-deststorepass', PASSWORD, '-deststoretype', 'PKCS12'],
  ]);
  return { pfx: await readFile(own), caFile };
}
