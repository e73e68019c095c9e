import {
  type AuthorizationServer,
  allowInsecureRequests,
  customFetch,
  discoveryRequest,
  processDiscoveryResponse,
} from 'oauth4webapi';
import type { Clock } from '../../infra/clock.ts';
import { PlatenError } from '../../infra/errors/registry.ts';

interface OidcIssuerOptions {
  /** The issuer identifier as tokens contain it; its discovery document is below this address. */
  readonly issuer: string;
  readonly clock: Clock;
  /** Reaches the issuer. Default: the global one, for an issuer of the operator. */
  readonly fetch?: typeof fetch;
}

/** Time limit of a request to the issuer, in milliseconds: callers get their response within 5 s. */
export const ISSUER_TIMEOUT_MS = 4000;
/** After a failure no request is sent to the issuer for this time, in milliseconds. */
const RETRY_AFTER_MS = 5000;
/** The issuer's metadata is requested again after so many milliseconds; until it responds, the old holds. */
const METADATA_CACHE_MS = 3_600_000;

/** An OpenID Connect issuer: its metadata (OpenID Connect Discovery 1.0), and whether it can be reached. */
export class OidcIssuer {
  readonly #options: OidcIssuerOptions;
  #found: AuthorizationServer | undefined;
  #staleAtMs = 0;
  #discovering: Promise<AuthorizationServer> | undefined;
  #notBeforeMs = 0;
  #silentUntilMs = 0;

  constructor(options: OidcIssuerOptions) {
    this.#options = options;
  }

  get issuer(): string {
    return this.#options.issuer;
  }

  /** Options of every request to the issuer: a time limit, and plain http where the operator's address has it. */
  request(): {
    signal: AbortSignal;
    [allowInsecureRequests]: boolean;
    [customFetch]?: typeof fetch;
  } {
    const { fetch } = this.#options;
    return {
      ...(fetch && { [customFetch]: fetch }),
      signal: AbortSignal.timeout(ISSUER_TIMEOUT_MS),
      [allowInsecureRequests]: this.issuer.startsWith('http:'),
    };
  }

  /** @throws PlatenError UNAVAILABLE while the metadata has never been received and cannot be. */
  async metadata(): Promise<AuthorizationServer> {
    if (this.#found !== undefined && isWithin(this.#staleAtMs - this.#nowMs(), METADATA_CACHE_MS))
      return this.#found;
    if (this.#discovering === undefined && this.#found === undefined) this.assertReachable();
    this.#discovering ??= this.#discover().finally(() => {
      this.#discovering = undefined;
    });
    // The old metadata holds, so no caller waits for the new one.
    return this.#found ?? this.#discovering;
  }

  /** The issuer is out of reach: it gets no request for RETRY_AFTER_MS. @returns the error to throw. */
  unreachable(cause: unknown): PlatenError {
    this.#notBeforeMs = this.#nowMs() + RETRY_AFTER_MS;
    if (cause instanceof DOMException && cause.name === 'TimeoutError')
      this.#silentUntilMs = this.#notBeforeMs;
    return unavailable(RETRY_AFTER_MS, cause);
  }

  /** @throws PlatenError UNAVAILABLE for RETRY_AFTER_MS after a failure: callers do not wait for another one. */
  assertReachable(): void {
    const waitMs = this.#notBeforeMs - this.#nowMs();
    if (isWithin(waitMs, RETRY_AFTER_MS)) throw unavailable(waitMs);
  }

  /**
   * As `assertReachable`, after a request without a response only: for requests about one user, of which one may fail for
   * reasons that are not those of others.
   */
  assertResponds(): void {
    const waitMs = this.#silentUntilMs - this.#nowMs();
    if (isWithin(waitMs, RETRY_AFTER_MS)) throw unavailable(waitMs);
  }

  async #discover(): Promise<AuthorizationServer> {
    const url = new URL(this.issuer);
    try {
      const response = await discoveryRequest(url, this.request());
      const found = await processDiscoveryResponse(url, response);
      // OpenID Connect Discovery 1.0, 4.3: the two must be equal, or one issuer could impersonate another.
      if (found.issuer !== this.issuer) throw new Error(`${this.issuer} is the issuer ${found.issuer}`);
      this.#found = found;
      this.#staleAtMs = this.#nowMs() + METADATA_CACHE_MS;
    } catch (error) {
      if (this.#found === undefined) throw this.unreachable(error);
      this.#staleAtMs = this.#nowMs() + RETRY_AFTER_MS;
    }
    return this.#found;
  }

  #nowMs(): number {
    return this.#options.clock.now().getTime();
  }
}

/** Whether a wait is not over. One that is longer than it can be began before the clock was set back. */
function isWithin(waitMs: number, longestMs: number): boolean {
  return waitMs > 0 && waitMs <= longestMs;
}

function unavailable(waitMs: number, cause?: unknown): PlatenError {
  return new PlatenError('UNAVAILABLE', 'The issuer of the token cannot be reached to check it.', {
    retryAfterSeconds: waitMs / 1000,
    cause,
  });
}
