import { createRemoteJWKSet, decodeJwt, errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { Clock } from '../../infra/clock.ts';
import { CLOCK_SKEW_S, claimsOf, type OidcClaims } from './oidc-claims.ts';
import { ISSUER_TIMEOUT_MS, type OidcIssuer } from './oidc-issuer.ts';
import { isMeantFor } from './oidc-purpose.ts';

interface OidcVerifierOptions {
  readonly issuer: OidcIssuer;
  readonly audience: string;
  /** The client under which the dashboard signs in at the issuer, if it does. */
  readonly clientId: string | undefined;
  readonly clock: Clock;
  /** A key that the issuer has withdrawn is trusted for this time at most, in milliseconds. Default: ten minutes. */
  readonly keysCacheMs?: number;
}

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>;

const KEYS_CACHE_MS = 10 * 60_000;
/** A token with an unknown key has the keys fetched again, once in this time at most, in milliseconds. */
const KEYS_COOLDOWN_MS = 30_000;
/** Asymmetric signatures only: with a shared key, every verifier of tokens could also sign them. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** Checks the JWTs of one OpenID Connect issuer against its published keys. */
export class OidcVerifier {
  readonly #options: OidcVerifierOptions;
  #keys: { readonly uri: string; readonly remote: RemoteKeys } | undefined;

  constructor(options: OidcVerifierOptions) {
    this.#options = options;
  }

  get issuer(): string {
    return this.#options.issuer.issuer;
  }

  /**
   * @returns undefined for a token that is not valid.
   * @throws PlatenError UNAVAILABLE while the issuer's keys cannot be fetched: a token that names this issuer can then
   * be neither accepted nor rejected.
   */
  async verify(token: string): Promise<OidcClaims | undefined> {
    const { audience, clientId, clock } = this.#options;
    const { issuer } = this;
    // A token that names another issuer is rejected without keys.
    if (issuerNamedBy(token) !== issuer) return undefined;
    const keys = await this.#remoteKeys();
    try {
      const now = clock.now();
      const { payload, protectedHeader } = await jwtVerify(token, this.#guarded(keys), {
        issuer,
        audience,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_SKEW_S,
        currentDate: now,
        requiredClaims: ['exp', 'sub'],
      });
      return isMeantFor(protectedHeader, payload, [audience, clientId]) ? claimsOf(payload, now) : undefined;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  async #remoteKeys(): Promise<RemoteKeys> {
    const { issuer, keysCacheMs = KEYS_CACHE_MS } = this.#options;
    const { jwks_uri: uri } = await issuer.metadata();
    if (uri === undefined || !/^https?:/.test(uri)) throw issuer.unreachable(new Error('It names no keys.'));
    if (this.#keys?.uri !== uri) {
      const remote = createRemoteJWKSet(new URL(uri), {
        timeoutDuration: ISSUER_TIMEOUT_MS,
        cooldownDuration: KEYS_COOLDOWN_MS,
        cacheMaxAge: keysCacheMs,
      });
      this.#keys = { uri, remote };
    }
    return this.#keys.remote;
  }

  /** Distinguishes keys that cannot be fetched, which is the issuer's error, from keys that do not fit the token. */
  #guarded(keys: RemoteKeys): JWTVerifyGetKey {
    return async (header, token) => {
      // Expired keys are fetched first; shortly after a failure, callers must not wait for another one.
      if (!keys.fresh) this.#options.issuer.assertReachable();
      try {
        return await keys(header, token);
      } catch (error) {
        const noFit =
          error instanceof errors.JWKSNoMatchingKey ||
          error instanceof errors.JWKSMultipleMatchingKeys ||
          error instanceof errors.JOSENotSupported;
        throw noFit ? error : this.#options.issuer.unreachable(error);
      }
    };
  }
}

function issuerNamedBy(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}
