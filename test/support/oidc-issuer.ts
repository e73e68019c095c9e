import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import Provider, { type Adapter, type AdapterPayload } from 'oidc-provider';
import { freePort } from './ports.ts';

export interface TestSubject {
  readonly subject: string;
  readonly email?: string;
  readonly emailVerified?: boolean;
}

/** A real OpenID Connect issuer, which gives JWT access tokens to its clients. */
export interface TestIssuer {
  readonly issuer: string;
  readonly audience: string;
  /** Requests for its keys so far. */
  keyRequests(): number;
  /** Requests that have had no answer because it hangs. */
  hungRequests(): number;
  /** A token that this issuer signs; `audience` in place of the service's. */
  token(subject: TestSubject, options?: { audience?: string; lifetimeS?: number }): Promise<string>;
  /** Takes connections, and answers nothing. */
  hang(on: boolean): void;
  /** Goes away. */
  stop(): Promise<void>;
  /** Comes back at the same address, with the same keys. */
  start(): Promise<void>;
}

const AUDIENCE = 'https://platen.test/api';
const SECRET = 'the secret of every client of the test issuer';

/** @param port where it listens, and comes back to; default a free one that no connection takes while it is away. */
export async function openIssuer(port?: number): Promise<TestIssuer> {
  const subjects = new Map<string, TestSubject>();
  let lifetime = 3600;
  let keyRequests = 0;
  let hanging = false;
  let hungRequests = 0;
  let handle: ((...exchange: Parameters<ReturnType<Provider['callback']>>) => unknown) | undefined;
  let server: Server = newServer();
  function newServer(): Server {
    return createServer((request, response) => {
      if (request.url?.endsWith('/jwks')) keyRequests += 1;
      if (hanging) hungRequests += 1;
      else void handle?.(request, response);
    });
  }
  const listen = async (at: number) => {
    await once(server.listen(at, '127.0.0.1'), 'listening');
  };
  const own = port ?? (await freePort());
  await listen(own);
  const issuer = `http://127.0.0.1:${own}`;

  const privateKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const jwk = {
    kty: 'RSA',
    ...privateKey.export({ format: 'jwk' }),
    kid: randomUUID(),
    use: 'sig',
    alg: 'RS256',
  };
  const provider = new Provider(issuer, {
    jwks: { keys: [jwk] },
    clients: [],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, audience) => ({
          scope: '',
          audience,
          accessTokenTTL: lifetime,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    extraTokenClaims(_context, token) {
      const { email, emailVerified } = subjects.get(token.clientId ?? '') ?? {};
      return email === undefined ? {} : { email, email_verified: emailVerified ?? true };
    },
    // Every subject is a client: the grant that needs no browser names the client as its subject.
    adapter: clientAdapter(subjects),
  });
  handle = provider.callback();

  return {
    issuer,
    audience: AUDIENCE,
    keyRequests: () => keyRequests,
    hungRequests: () => hungRequests,
    async token(subject, options = {}) {
      subjects.set(subject.subject, subject);
      lifetime = options.lifetimeS ?? 3600;
      const answer = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          authorization: `Basic ${Buffer.from(`${subject.subject}:${encodeURIComponent(SECRET)}`).toString('base64')}`,
        },
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          resource: options.audience ?? AUDIENCE,
        }),
      });
      const body = (await answer.json()) as { access_token: string };
      assert.equal(answer.status, 200, JSON.stringify(body));
      return body.access_token;
    },
    hang(on) {
      hanging = on;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
    async start() {
      server = newServer();
      await listen(own);
    },
  };
}

/** Keeps everything in memory, and knows every subject as a client. */
function clientAdapter(subjects: ReadonlyMap<string, TestSubject>) {
  return (name: string): Adapter => {
    const kept = new Map<string, AdapterPayload>();
    return {
      async upsert(id: string, payload: AdapterPayload) {
        kept.set(id, payload);
      },
      async find(id: string) {
        if (name !== 'Client') return kept.get(id);
        if (!subjects.has(id)) return undefined;
        return {
          client_id: id,
          client_secret: SECRET,
          grant_types: ['client_credentials'],
          redirect_uris: [],
          response_types: [],
        };
      },
      async findByUserCode() {
        return undefined;
      },
      async findByUid() {
        return undefined;
      },
      async consume() {},
      async destroy(id: string) {
        kept.delete(id);
      },
      async revokeByGrantId() {},
    };
  };
}
