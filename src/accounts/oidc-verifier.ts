import {
  createRemoteJWKSet,
  decodeJwt,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { PlatenError } from '../errors/registry.ts';

/** What an issuer's token says that matters here. */
export interface OidcClaims {
  readonly subject: string;
  /** In lower case; null unless the issuer says that it has been verified. */
  readonly email: string | null;
  readonly issuedAt: Date | undefined;
  readonly expiresAt: Date;
}

export interface OidcVerifierOptions {
  /** As it stands in tokens; its discovery document is below it. */
  readonly issuer: string;
  readonly audience: string;
  readonly clock: Clock;
  /** A key that the issuer has withdrawn is trusted no longer than this, in milliseconds; ten minutes unless said otherwise. */
  readonly keysCacheMs?: number;
}

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>;

/** How far the issuer's clock may be off. */
export const CLOCK_SKEW_S = 60;
const FETCH_TIMEOUT_MS = 5000;
const KEYS_CACHE_MS = 10 * 60_000;
/** A token with an unknown key makes the keys be fetched again, but not more often than this. */
const KEYS_COOLDOWN_MS = 30_000;
/** An issuer that could not be reached is not asked again for this long. */
const RETRY_AFTER_MS = 5000;
/** Only signatures made with a private key: with a shared one whoever can check a token can make one. */
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

const discoverySchema = z.object({
  issuer: z.string(),
  jwks_uri: z.url({ protocol: /^https?$/ }),
});

/** Checks the JWTs of one OpenID Connect issuer against its published keys. */
export class OidcVerifier {
  readonly #options: OidcVerifierOptions;
  #keys: Promise<RemoteKeys> | undefined;
  #notBefore = 0;

  constructor(options: OidcVerifierOptions) {
    this.#options = options;
  }

  get issuer(): string {
    return this.#options.issuer;
  }

  /**
   * @returns undefined for a token that is not valid.
   * @throws PlatenError UNAVAILABLE while the issuer's keys cannot be had: nothing is known then of a token that says it is
   * the issuer's.
   */
  async verify(token: string): Promise<OidcClaims | undefined> {
    const { issuer, audience, clock } = this.#options;
    // What does not even say so needs no keys to be refused.
    if (issuerNamedBy(token) !== issuer) return undefined;
    const keys = await this.#discovered();
    try {
      const { payload } = await jwtVerify(token, this.#guarded(keys), {
        issuer,
        audience,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_SKEW_S,
        currentDate: clock.now(),
        requiredClaims: ['exp', 'sub'],
      });
      return claimsOf(payload);
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  /** Once; after a failure again, but not at once. */
  #discovered(): Promise<RemoteKeys> {
    if (this.#keys === undefined) this.#refuseWhileAway();
    this.#keys ??= this.#discover().catch((error: unknown) => {
      this.#keys = undefined;
      throw this.#away(error);
    });
    return this.#keys;
  }

  async #discover(): Promise<RemoteKeys> {
    const { issuer, keysCacheMs = KEYS_CACHE_MS } = this.#options;
    const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const response = await fetch(url, {
      signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
      redirect: 'error',
      headers: { Accept: 'application/json' },
    });
    if (!response.ok) throw new Error(`${url} answered ${response.status}`);
    const found = discoverySchema.parse(await response.json());
    // OpenID Connect Discovery 1.0, 4.3: they must be the same, or one issuer could speak for another.
    if (found.issuer !== issuer) throw new Error(`${url} is of the issuer ${found.issuer}`);
    return createRemoteJWKSet(new URL(found.jwks_uri), {
      timeoutDuration: FETCH_TIMEOUT_MS,
      cooldownDuration: KEYS_COOLDOWN_MS,
      cacheMaxAge: keysCacheMs,
    });
  }

  /** Tells keys that cannot be fetched from keys that do not fit: the second is the token's fault. */
  #guarded(keys: RemoteKeys): JWTVerifyGetKey {
    return async (header, token) => {
      // Keys that are too old are fetched first; while that fails nobody is to wait for it in vain.
      if (!keys.fresh) this.#refuseWhileAway();
      try {
        return await keys(header, token);
      } catch (error) {
        const noFit =
          error instanceof errors.JWKSNoMatchingKey ||
          error instanceof errors.JWKSMultipleMatchingKeys ||
          error instanceof errors.JOSENotSupported;
        throw noFit ? error : this.#away(error);
      }
    };
  }

  #away(cause: unknown): PlatenError {
    this.#notBefore = this.#options.clock.now().getTime() + RETRY_AFTER_MS;
    return unavailable(RETRY_AFTER_MS, cause);
  }

  #refuseWhileAway(): void {
    const waitMs = this.#notBefore - this.#options.clock.now().getTime();
    if (waitMs > 0) throw unavailable(waitMs);
  }
}

/** Whom a token says it is of; unproven. */
function issuerNamedBy(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

function unavailable(waitMs: number, cause?: unknown): PlatenError {
  return new PlatenError('UNAVAILABLE', 'The issuer of the token cannot be reached to check it.', {
    retryAfterSeconds: waitMs / 1000,
    cause,
  });
}

function claimsOf({ sub, exp, iat, email, email_verified }: JWTPayload): OidcClaims | undefined {
  if (sub === undefined || sub === '' || exp === undefined) return undefined;
  return {
    subject: sub,
    email: typeof email === 'string' && email_verified === true ? email.toLowerCase() : null,
    issuedAt: iat === undefined ? undefined : new Date(iat * 1000),
    expiresAt: new Date((exp + CLOCK_SKEW_S) * 1000),
  };
}
