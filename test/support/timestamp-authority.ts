import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type Identity, openssl } from './seal-keys.ts';

/** A time-stamp authority (RFC 3161) over http at an address that stands for the public internet, by openssl. */
export class TimestampAuthority {
  readonly #server: Server;
  readonly #folder: string;
  /** The queries that it was sent. */
  readonly queries: Buffer[] = [];
  /** Responds; by default with a time stamp. */
  respond: (query: Buffer, response: ServerResponse) => unknown;

  private constructor(server: Server, folder: string, identity: Identity) {
    this.#server = server;
    this.#folder = folder;
    this.respond = async (query, response) => response.end(await this.reply(query, identity));
    server.on('request', async (request: IncomingMessage, response: ServerResponse) => {
      const query = await buffer(request);
      this.queries.push(query);
      await this.respond(query, response);
    });
  }

  /** @param identity has a certificate for time stamps. */
  static async start(identity: Identity): Promise<TimestampAuthority> {
    const folder = await mkdtemp(join(tmpdir(), 'platen-tsa-'));
    const server = createServer();
    server.listen(0, '127.9.9.1');
    await once(server, 'listening');
    return new TimestampAuthority(server, folder, identity);
  }

  get url(): string {
    return `http://127.9.9.1:${(this.#server.address() as AddressInfo).port}/tsa`;
  }

  /** The response to a query, by whichever key. */
  async reply(query: Buffer, { cert, key }: Identity): Promise<Buffer> {
    const at = await mkdtemp(join(this.#folder, 'reply-'));
    const [config, asked, out] = [join(at, 'config'), join(at, 'query'), join(at, 'response')];
    await writeFile(join(at, 'serial'), '01');
    await writeFile(asked, query);
    await writeFile(
      config,
      `[tsa]\ndefault_tsa = t\n[t]\nserial = ${join(at, 'serial')}\ndefault_policy = 1.2.3.4\ndigests = sha256\nsigner_digest = sha256\ness_cert_id_alg = sha256\n`,
    );
    const by = ['-signer', cert, '-inkey', key];
    await openssl('ts', '-reply', '-config', config, '-queryfile', asked, ...by, '-out', out);
    return await readFile(out);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
    await rm(this.#folder, { recursive: true, force: true });
  }
}
