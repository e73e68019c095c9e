import { decodeProtectedHeader } from 'jose';
import * as oauth from 'oauth4webapi';
import type { Clock } from '../../infra/clock.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import { CLOCK_SKEW_S, claimsOf, type OidcClaims } from './oidc-claims.ts';
import type { OidcIssuer } from './oidc-issuer.ts';
import { isMeantFor } from './oidc-purpose.ts';

/** What a browser keeps while its user is at the issuer: the issuer's response must belong to this request. */
export interface PendingSignIn {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** The page to return to, below the public address. */
  readonly returnTo: string;
  /** The mail domain at whose issuer it began; absent for that of the operator. */
  readonly domain?: string | undefined;
}

interface OidcClientOptions {
  readonly issuer: OidcIssuer;
  readonly clock: Clock;
  readonly clientId: string;
  /** Absent for a public client, which PKCE alone protects. */
  readonly clientSecret: string | undefined;
  /** As in `claimsOf`. */
  readonly vouches?: boolean;
}

/**
 * This service as a client of an OpenID Connect issuer: the authorization code flow with PKCE, state and nonce (OpenID
 * Connect Core 1.0, 3.1). The issuer's tokens are not stored.
 */
export class OidcClient {
  readonly #options: OidcClientOptions;
  readonly #client: oauth.Client;

  constructor(options: OidcClientOptions) {
    this.#options = options;
    this.#client = { client_id: options.clientId, [oauth.clockTolerance]: CLOCK_SKEW_S };
  }

  /**
   * @param redirectUri where the issuer sends the browser back to.
   * @returns the issuer's page, and what the browser must present when it comes back.
   * @throws PlatenError UNAVAILABLE when the issuer cannot be reached.
   */
  async begin(
    redirectUri: string,
    returnTo: string,
  ): Promise<{ readonly location: string; readonly pending: PendingSignIn }> {
    const { authorization_endpoint: page } = await this.#options.issuer.metadata();
    if (page === undefined)
      throw this.#options.issuer.unreachable(new Error('It names no page to sign in at.'));
    const pending = {
      state: oauth.generateRandomState(),
      nonce: oauth.generateRandomNonce(),
      codeVerifier: oauth.generateRandomCodeVerifier(),
      returnTo,
    };
    const location = new URL(page);
    const parameters = {
      client_id: this.#options.clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'openid email',
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(pending.codeVerifier),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(parameters)) location.searchParams.set(name, value);
    return { location: location.href, pending };
  }

  /**
   * Exchanges the code that the issuer sent the browser back with.
   *
   * @param authResponse the parameters of that.
   * @throws PlatenError UNAUTHENTICATED when the response does not belong to the pending sign-in or denies it;
   * UNAVAILABLE.
   */
  async exchange(
    authResponse: URLSearchParams,
    pending: PendingSignIn,
    redirectUri: string,
  ): Promise<OidcClaims> {
    const { issuer, clientId, clientSecret, clock, vouches } = this.#options;
    const server = await issuer.metadata();
    // Those who have waited behind a request without a response must not wait for another one.
    issuer.assertResponds();
    const secret = clientSecret === undefined ? oauth.None() : clientAuthentication(server, clientSecret);
    let validated: { readonly idToken: string; readonly payload: oauth.IDToken };
    try {
      const code = oauth.validateAuthResponse(server, this.#client, authResponse, pending.state);
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        this.#client,
        secret,
        code,
        redirectUri,
        pending.codeVerifier,
        issuer.request(),
      );
      const tokens = await oauth.processAuthorizationCodeResponse(server, this.#client, response, {
        expectedNonce: pending.nonce,
        requireIdToken: true,
      });
      await oauth.validateApplicationLevelSignature(server, response, issuer.request());
      validated = { idToken: tokens.id_token!, payload: oauth.getValidatedIdTokenClaims(tokens)! };
    } catch (error) {
      throw isRejection(error) ? rejectionOf(error) : issuer.unreachable(error);
    }
    const { idToken, payload } = validated;
    const isMeant = isMeantFor(decodeProtectedHeader(idToken), payload, [clientId]);
    const claims = isMeant ? claimsOf(payload, clock.now(), vouches) : undefined;
    // Not the issuer's failure: others can still sign in there.
    if (claims === undefined)
      throw rejectionOf(new Error('The ID token names nobody, or is for another client.'));
    return claims;
  }
}

/** In the header, unless the issuer supports it in the body only (OpenID Connect Discovery 1.0, 3). */
function clientAuthentication(
  { token_endpoint_auth_methods_supported: methods }: oauth.AuthorizationServer,
  secret: string,
): oauth.ClientAuth {
  const inBody = methods?.includes('client_secret_post') && !methods.includes('client_secret_basic');
  return inBody ? oauth.ClientSecretPost(secret) : oauth.ClientSecretBasic(secret);
}

/** Whether the issuer has responded with a rejection or an invalid response, and not failed itself. */
function isRejection(error: unknown): boolean {
  if (error instanceof oauth.ResponseBodyError) return error.status < 500;
  return (
    error instanceof oauth.AuthorizationResponseError ||
    error instanceof oauth.OperationProcessingError ||
    error instanceof oauth.UnsupportedOperationError ||
    error instanceof oauth.WWWAuthenticateChallengeError
  );
}

function rejectionOf(cause: unknown): PlatenError {
  const isDenied = cause instanceof oauth.AuthorizationResponseError && cause.error === 'access_denied';
  const message = isDenied
    ? 'The issuer did not sign you in.'
    : 'The answer of the issuer is not valid here.';
  return new PlatenError('UNAUTHENTICATED', message, { cause });
}
