import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type Identity, openssl } from './seal-keys.ts';

type Status = 'good' | 'revoked' | 'unknown';

/** Responds to a request. */
export type Respond = (request: IncomingMessage, body: Buffer, response: ServerResponse) => unknown;

/** The servers of an authority over http, at an address that stands for the public internet, by openssl. */
export class RevocationAuthority {
  readonly #server: Server;
  readonly #folder: string;
  readonly #routes = new Map<string, Respond>();
  /** The paths that were asked for. */
  readonly asked: string[] = [];

  private constructor(server: Server, folder: string) {
    this.#server = server;
    this.#folder = folder;
    server.on('request', async (request: IncomingMessage, response: ServerResponse) => {
      const body = await buffer(request);
      this.asked.push(request.url!);
      await (this.#routes.get(request.url!) ?? (() => response.writeHead(404).end()))(
        request,
        body,
        response,
      );
    });
  }

  static async start(): Promise<RevocationAuthority> {
    const folder = await mkdtemp(join(tmpdir(), 'platen-revocation-'));
    const server = createServer();
    server.listen(0, '127.9.9.1');
    await once(server, 'listening');
    return new RevocationAuthority(server, folder);
  }

  url(path: string): string {
    return `http://127.9.9.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  /** Responds at a path from now on. @returns what did so before. */
  serve(path: string, respond: Respond): Respond | undefined {
    const before = this.#routes.get(path);
    this.#routes.set(path, respond);
    return before;
  }

  /** The response to a request of OCSP. @param by whoever signs it. */
  async ocsp(request: Buffer, issuer: Identity, by: Identity, status: Status = 'good'): Promise<Buffer> {
    const at = await mkdtemp(join(this.#folder, 'ocsp-'));
    const [asked, index, out] = [join(at, 'request'), join(at, 'index'), join(at, 'response')];
    await writeFile(asked, request);
    const text = await openssl('ocsp', '-reqin', asked, '-req_text');
    const serial = /Serial Number: ([0-9A-F]+)/.exec(text)![1]!;
    await writeFile(index, status === 'unknown' ? '' : line(serial, status));
    const from = ['-CA', issuer.cert, '-rsigner', by.cert, '-rkey', by.key, '-ndays', '1'];
    await openssl('ocsp', '-index', index, ...from, '-reqin', asked, '-respout', out);
    return await readFile(out);
  }

  /** A revocation list of an issuer. @param days may be less than 0. */
  async list(issuer: Identity, revoked: readonly string[] = [], days = 1): Promise<Buffer> {
    const at = await mkdtemp(join(this.#folder, 'list-'));
    const [config, index, out] = [join(at, 'config'), join(at, 'index'), join(at, 'list')];
    await writeFile(index, revoked.map((serial) => line(serial, 'revoked')).join(''));
    await writeFile(config, `[ca]\ndefault_ca = c\n[c]\ndatabase = ${index}\ndefault_md = sha256\n`);
    const by = ['-config', config, '-cert', issuer.cert, '-keyfile', issuer.key];
    const until = new Date(Date.now() + days * 86_400_000).toISOString().replace(/[-:T]|\.\d+/g, '');
    const when = ['-crl_lastupdate', '20200101000000Z', '-crl_nextupdate', until];
    await openssl('ca', '-gencrl', ...by, ...when, '-out', out);
    await openssl('crl', '-in', out, '-outform', 'DER', '-out', `${out}.der`);
    return await readFile(`${out}.der`);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Of the database of openssl's authority. */
function line(serial: string, status: Status): string {
  const revoked = status === 'revoked' ? '250101000000Z' : '';
  return `${revoked === '' ? 'V' : 'R'}\t491231000000Z\t${revoked}\t${serial}\tunknown\t/CN=x\n`;
}
