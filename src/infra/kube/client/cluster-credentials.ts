import { createHash } from 'node:crypto';
import type { RequestOptions } from 'node:https';
import type { DispatcherOptions, KubeConfig } from '@kubernetes/client-node';
import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import type { Timers } from '../../async/timers.ts';
import { KubernetesError } from '../kubernetes-error.ts';

/** In milliseconds: tokens and certificates are replaced in their files while the process runs. */
const FRESH_FOR_MS = 10_000;

/** The headers and the connection pool of a call. */
export interface Access {
  readonly headers: Readonly<Record<string, string>>;
  readonly dispatcher: Dispatcher;
}

/**
 * Signs calls with what the cluster's configuration says (token, token file, client certificate, command), and keeps
 * ONE pool of connections for as long as the certificates stay the same: the library would make a new pool for every
 * call.
 */
export class Credentials {
  readonly #load: () => Promise<KubeConfig>;
  readonly #timers: Timers;
  #config: KubeConfig | undefined;
  #access: { readonly value: Promise<Access>; readonly readAtMs: number } | undefined;
  #pool: { readonly id: string; readonly dispatcher: Dispatcher } | undefined;
  readonly #oldPools = new Set<Dispatcher>();

  /** @param load reads the configuration; again when the server did not know what was in it. */
  constructor(load: () => Promise<KubeConfig>, timers: Timers) {
    this.#load = load;
    this.#timers = timers;
  }

  /** @throws KubernetesError when they cannot be read. */
  current(): Promise<Access> {
    const nowMs = this.#timers.nowMs();
    if (this.#access === undefined || nowMs - this.#access.readAtMs >= FRESH_FOR_MS) {
      const value = this.#read();
      this.#access = { value, readAtMs: nowMs };
      value.catch(() => this.renew());
    }
    return this.#access.value;
  }

  /** The server rejected the credentials: the next call reads them anew, past the cache of the library. */
  renew(): void {
    this.#access = undefined;
    this.#config = undefined;
  }

  /** Aborts whatever is under way. */
  async close(): Promise<void> {
    const pools = [...this.#oldPools, ...(this.#pool === undefined ? [] : [this.#pool.dispatcher])];
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  async #read(): Promise<Access> {
    try {
      this.#config ??= await this.#load();
      const config = this.#config;
      const options: RequestOptions = {};
      await config.applyToHTTPSOptions(options);
      const headers: Record<string, string> = {};
      for (const [name, value] of Object.entries(options.headers ?? {})) headers[name] = String(value).trim();
      if (typeof options.auth === 'string') {
        headers.Authorization ??= `Basic ${Buffer.from(options.auth).toString('base64')}`;
      }
      const { ca, cert, key, rejectUnauthorized, servername } = options;
      const tls = { ca, cert, key, rejectUnauthorized, servername };
      const dispatcherOptions = config.createDispatcherOptions(config.getCurrentCluster(), tls);
      return { headers, dispatcher: this.#poolFor(dispatcherOptions) };
    } catch (cause) {
      const message = `the credentials for the API server cannot be read: ${cause instanceof Error ? cause.message : cause}`;
      throw new KubernetesError(message, { status: 0, reason: 'NoCredentials', cause });
    }
  }

  #poolFor(options: DispatcherOptions): Dispatcher {
    const id = createHash('sha256').update(JSON.stringify(options)).digest('hex');
    if (this.#pool?.id === id) return this.#pool.dispatcher;
    const old = this.#pool?.dispatcher;
    this.#pool = { id, dispatcher: openPool(options) };
    if (old !== undefined) {
      // Calls and watches that are under way go on; a watch ends within minutes.
      this.#oldPools.add(old);
      void old.close().finally(() => this.#oldPools.delete(old));
    }
    return this.#pool.dispatcher;
  }
}

/**
 * HTTP/1.1: an aborted call ends its connection with it. All streams of HTTP/2 share one connection, and when that is
 * dead without having been closed, every call after it uses it too. Each call has its own deadline.
 */
const POOL = { allowH2: false, headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 30_000 } as const;
const CONNECT_TIMEOUT_MS = 10_000;

function openPool(options: DispatcherOptions): Dispatcher {
  switch (options.type) {
    case 'proxy':
      return new ProxyAgent({ ...POOL, uri: options.uri, requestTls: options.requestTls });
    case 'socks':
      throw new Error('SOCKS proxies to the API server are not supported');
    case 'agent':
      return new Agent({ ...POOL, connect: { ...options.connect, timeout: CONNECT_TIMEOUT_MS } });
    case 'none':
      return new Agent({ ...POOL, connect: { timeout: CONNECT_TIMEOUT_MS } });
  }
}
