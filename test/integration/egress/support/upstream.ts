import type { lookup } from 'node:dns';
import { Server } from 'proxy-chain';

/** A proxy of an organisation, as it is sold; notes what it is asked to connect to. */
export class Upstream {
  readonly #server: Server;
  /** The targets of CONNECT so far, as `host:port`. */
  readonly asked: string[] = [];

  private constructor(credentials: string | undefined, names: Readonly<Record<string, string>>) {
    this.#server = new Server({
      host: '127.0.0.1',
      port: 0,
      prepareRequestFunction: ({ hostname, port, username, password }) => {
        this.asked.push(`${hostname}:${port}`);
        return {
          requestAuthentication: credentials !== undefined && `${username}:${password}` !== credentials,
          dnsLookup: lookupIn(names),
        };
      },
    });
  }

  /**
   * @param credentials that it wants, as `user:password`.
   * @param names that it knows, with their addresses.
   */
  static async start(credentials?: string, names: Readonly<Record<string, string>> = {}): Promise<Upstream> {
    const upstream = new Upstream(credentials, names);
    await upstream.#server.listen();
    return upstream;
  }

  get port(): number {
    return this.#server.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async close(): Promise<void> {
    await this.#server.close(true);
  }
}

/** In place of the machine's name servers. */
function lookupIn(names: Readonly<Record<string, string>>): typeof lookup {
  const found = (name: string, options: { all?: boolean }, done: (...results: unknown[]) => void) => {
    const address = names[name];
    if (address === undefined) done(Object.assign(new Error(`${name} is not known`), { code: 'ENOTFOUND' }));
    else if (options.all) done(null, [{ address, family: 4 }]);
    else done(null, address, 4);
  };
  return found as typeof lookup;
}
