import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { SignJWT } from 'jose';
import Provider, { type Adapter, type AdapterPayload } from 'oidc-provider';
import { SERVER } from './certificates.ts';
import { freePort } from './ports.ts';

export interface TestSubject {
  readonly subject: string;
  readonly email?: string;
  /** Default: true. Null: the issuer does not say. */
  readonly emailVerified?: boolean | null;
}

/** A real OpenID Connect issuer, which gives JWT access tokens to its clients. */
export interface TestIssuer {
  readonly issuer: string;
  readonly audience: string;
  /** The client of browsers, its secret, and where it may have them sent back to. */
  readonly client: { readonly id: string; readonly secret: string; readonly redirectUris: string[] };
  /** Sets the user of the next browsers; `undefined` is rejected. */
  browserOf(subject: TestSubject | undefined): void;
  /** Requests for its keys so far. */
  keyRequests(): number;
  /** Requests without a response because the issuer hangs. */
  hungRequests(): number;
  /** A token that this issuer signs; `audience` replaces the service's. */
  token(subject: TestSubject, options?: { audience?: string; lifetimeS?: number }): Promise<string>;
  /** A JWT with any claims, signed with the issuer's own key; undefined leaves a claim out. */
  sign(claims: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>;
  /** Takes connections, and does not respond. */
  hang(on: boolean): void;
  /** Goes away. */
  stop(): Promise<void>;
  /** Comes back at the same address, with the same keys. */
  start(): Promise<void>;
}

const BROWSER_CLIENT = 'platen-dashboard';
const AUDIENCE = 'https://platen.test/api';
const SECRET = 'the secret of every client of the test issuer';

/**
 * @param port where it listens, also after a restart; default a free one that no connection takes while it is away.
 * @param secure over TLS, with the certificate `SERVER`.
 */
export async function openIssuer(port?: number, secure = false): Promise<TestIssuer> {
  let somebody: TestSubject | undefined;
  const redirectUris: string[] = [];
  const subjects = new Map<string, TestSubject>();
  let lifetime = 3600;
  let keyRequests = 0;
  let hanging = false;
  let hungRequests = 0;
  let handle: ((...exchange: Parameters<ReturnType<Provider['callback']>>) => unknown) | undefined;
  let server: Server = newServer();
  function newServer(): Server {
    const answer = (request: IncomingMessage, response: ServerResponse) => {
      if (request.url?.endsWith('/jwks')) keyRequests += 1;
      if (hanging) hungRequests += 1;
      else if (request.url?.startsWith('/interaction/'))
        void interact(request, response).catch((error) => response.writeHead(500).end(String(error)));
      else void handle?.(request, response);
    };
    return secure ? createSecureServer(SERVER, answer) : createServer(answer);
  }
  const listen = async (at: number) => {
    await once(server.listen(at, '127.0.0.1'), 'listening');
  };
  const own = port ?? (await freePort());
  await listen(own);
  const issuer = `http${secure ? 's' : ''}://127.0.0.1:${own}`;

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
    scopes: ['openid', 'email'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    // As well-known issuers do: claims requested by scope are in the ID token.
    conformIdTokenClaims: false,
    findAccount: (_context, accountId) => ({
      accountId,
      claims: () => {
        const { email, emailVerified = true } = subjects.get(accountId) ?? {};
        const verified = emailVerified === null ? {} : { email_verified: emailVerified };
        return { sub: accountId, ...(email !== undefined && { email, ...verified }) };
      },
    }),
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
    adapter: clientAdapter(subjects, redirectUris),
  });
  handle = provider.callback();

  /** Acts as the issuer's pages do once the user has pressed their buttons. */
  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prompt, params, session } = await provider.interactionDetails(request, response);
    const accountId = somebody?.subject;
    if (accountId === undefined) {
      await provider.interactionFinished(request, response, { error: 'access_denied' });
    } else if (prompt.name === 'login') {
      subjects.set(accountId, somebody!);
      await provider.interactionFinished(request, response, { login: { accountId } });
    } else {
      const grant = new provider.Grant({ accountId: session!.accountId, clientId: String(params.client_id) });
      grant.addOIDCScope('openid email');
      await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
    }
  }

  return {
    issuer,
    audience: AUDIENCE,
    client: { id: BROWSER_CLIENT, secret: SECRET, redirectUris },
    browserOf(subject) {
      somebody = subject;
    },
    keyRequests: () => keyRequests,
    hungRequests: () => hungRequests,
    async token(subject, options = {}) {
      subjects.set(subject.subject, subject);
      lifetime = options.lifetimeS ?? 3600;
      const reply = await fetch(`${issuer}/token`, {
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
      const body = (await reply.json()) as { access_token: string };
      assert.equal(reply.status, 200, JSON.stringify(body));
      return body.access_token;
    },
    sign(claims, header = {}) {
      const now = Math.floor(Date.now() / 1000);
      const usual = { iss: issuer, aud: AUDIENCE, iat: now, exp: now + 3600 };
      return new SignJWT({ ...usual, ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: jwk.kid, ...header })
        .sign(privateKey);
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

/** Keeps everything in memory, and knows as a client every subject, and that of browsers. */
function clientAdapter(subjects: ReadonlyMap<string, TestSubject>, redirectUris: readonly string[]) {
  return (name: string): Adapter => {
    const kept = new Map<string, AdapterPayload>();
    return {
      async upsert(id: string, payload: AdapterPayload) {
        kept.set(id, payload);
      },
      async find(id: string) {
        if (name !== 'Client') return kept.get(id);
        if (id === BROWSER_CLIENT) {
          return {
            client_id: id,
            client_secret: SECRET,
            grant_types: ['authorization_code'],
            redirect_uris: [...redirectUris],
            response_types: ['code'],
          };
        }
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
      async findByUid(uid: string) {
        return [...kept.values()].find((payload) => payload.uid === uid);
      },
      async consume(id: string) {
        kept.set(id, { ...kept.get(id), consumed: Math.floor(Date.now() / 1000) });
      },
      async destroy(id: string) {
        kept.delete(id);
      },
      async revokeByGrantId() {},
    };
  };
}
