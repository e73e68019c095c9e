import { byAccount } from '../audit/audit-log.ts';
import type { Clock } from '../clock.ts';
import { FREE_PLAN } from '../plans/plan.ts';
import { type AccessTokenStore, isOwnToken, tokenId } from './access-token-store.ts';
import type { AccountService } from './account-service.ts';
import type { Account, AccountStore } from './account-store.ts';
import type { OidcVerifier } from './oidc-verifier.ts';

/** Who a bearer token speaks for. */
export interface Session {
  readonly account: Account;
  readonly tokenId: string;
  readonly tokenExpiresAt: Date;
}

export interface BearerParts {
  readonly accounts: AccountStore;
  readonly tokens: AccessTokenStore;
  readonly accountService: AccountService;
  readonly clock: Clock;
  /** Undefined when no issuer is configured. */
  readonly oidc: OidcVerifier | undefined;
}

/** Finds out who a bearer token speaks for: one made here, or one of the configured issuer. */
export class BearerTokens {
  readonly #parts: BearerParts;

  constructor(parts: BearerParts) {
    this.#parts = parts;
  }

  /**
   * @param address the client's, for the audit log.
   * @returns undefined for a token that is unknown, expired or revoked.
   * @throws PlatenError UNAVAILABLE when an issuer's token cannot be checked at the moment.
   */
  verify(token: string, address: string | undefined): Promise<Session | undefined> {
    return isOwnToken(token) ? this.#own(token) : this.#issuers(token, address);
  }

  async #own(token: string): Promise<Session | undefined> {
    const id = tokenId(token);
    const known = await this.#parts.tokens.find(id);
    if (known === undefined || known.revoked || known.expiresAt <= this.#parts.clock.now()) return undefined;
    const account = await this.#parts.accounts.find(known.accountId);
    if (account === undefined || madeTooEarly(account, known.createdAt)) return undefined;
    return { account, tokenId: id, tokenExpiresAt: known.expiresAt };
  }

  async #issuers(token: string, address: string | undefined): Promise<Session | undefined> {
    const { oidc, tokens, accountService } = this.#parts;
    const claims = await oidc?.verify(token);
    if (oidc === undefined || claims === undefined) return undefined;
    const id = tokenId(token);
    if ((await tokens.find(id))?.revoked) return undefined;
    const { subject, email } = claims;
    const account = await accountService.findOrCreateFederated(
      { issuer: oidc.issuer, subject, email },
      FREE_PLAN,
      byAccount(address),
    );
    // A token that does not say when it was made may be older than any revocation.
    if (madeTooEarly(account, claims.issuedAt ?? new Date(0))) return undefined;
    return { account, tokenId: id, tokenExpiresAt: claims.expiresAt };
  }
}

function madeTooEarly({ tokensNotBefore }: Account, made: Date): boolean {
  return tokensNotBefore !== undefined && tokensNotBefore !== null && made < tokensNotBefore;
}
