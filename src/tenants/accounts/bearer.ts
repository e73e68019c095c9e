import type { Clock } from '../../infra/clock.ts';
import { hashSecret } from '../../infra/ids/hash-secret.ts';
import { byAccount } from '../audit/audit-log.ts';
import {
  type AccessTokenStore,
  isIdle,
  isOwnToken,
  isSessionToken,
  type OpenSession,
} from './access-token-store.ts';
import type { AccountService } from './account-service.ts';
import type { Account, AccountStore } from './account-store.ts';
import type { OidcVerifier } from './oidc-verifier.ts';

/** The account that an access token authenticates. */
export interface Session {
  readonly account: Account;
  readonly tokenId: string;
  readonly tokenExpiresAt: Date;
  /** When the browser that holds the token in a cookie signed in; absent for a bearer token. */
  readonly signedInAt?: Date;
}

interface BearerDeps {
  readonly accounts: AccountStore;
  readonly tokens: AccessTokenStore;
  readonly accountService: AccountService;
  readonly clock: Clock;
  /** Undefined when no issuer is configured. */
  readonly oidc: OidcVerifier | undefined;
}

/** Verifies access tokens: bearer tokens and sessions of this service, and tokens of the configured issuer. */
export class BearerTokens {
  readonly #deps: BearerDeps;

  constructor(deps: BearerDeps) {
    this.#deps = deps;
  }

  /**
   * @param address the client's IP address, for the audit log.
   * @returns undefined for a token that is unknown, expired or revoked.
   * @throws PlatenError UNAVAILABLE when an issuer's token cannot be checked at the moment.
   */
  verify(token: string, address: string | undefined): Promise<Session | undefined> {
    return isOwnToken(token) ? this.#own(token) : this.#issuers(token, address);
  }

  /** @returns undefined for what is no session's, or one that has ended: after 12 hours, or 2 hours without use. */
  async verifySession(token: string): Promise<Session | undefined> {
    if (!isSessionToken(token)) return undefined;
    const { tokens, clock } = this.#deps;
    const session = await this.#own(token);
    const known = session && (await tokens.find(session.tokenId));
    if (known?.session === undefined || isIdle(known, clock.now())) return undefined;
    await tokens.noteUse(known as OpenSession);
    return { ...session!, signedInAt: known.createdAt };
  }

  /** Whether a token or session is still valid; at most one second late. It does not count as use. */
  async isOpen({ account, tokenId, tokenExpiresAt }: Session): Promise<boolean> {
    const { tokens, accounts, clock } = this.#deps;
    const now = clock.now();
    if (tokenExpiresAt <= now) return false;
    const [known, owner] = await Promise.all([tokens.find(tokenId), accounts.find(account._id)]);
    if (known?.revoked || owner === undefined || owner.suspendedAt !== undefined) return false;
    if (known !== undefined && isIdle(known, now)) return false;
    // When the two times differ, all tokens of the account, including this one, have been revoked since.
    return owner.tokensNotBefore?.getTime() === account.tokensNotBefore?.getTime();
  }

  async #own(token: string): Promise<Session | undefined> {
    const id = hashSecret(token);
    const known = await this.#deps.tokens.find(id);
    if (known === undefined || known.revoked || known.expiresAt <= this.#deps.clock.now()) return undefined;
    const account = await this.#deps.accounts.findOwned(known.accountId, known.ownerFence);
    if (account === undefined || madeTooEarly(account, known.createdAt)) return undefined;
    return { account, tokenId: id, tokenExpiresAt: known.expiresAt };
  }

  async #issuers(token: string, address: string | undefined): Promise<Session | undefined> {
    const { oidc, tokens, accountService } = this.#deps;
    const claims = await oidc?.verify(token);
    if (oidc === undefined || claims === undefined) return undefined;
    const id = hashSecret(token);
    if ((await tokens.find(id))?.revoked) return undefined;
    const { subject, email } = claims;
    const account = await accountService.findOrCreateFederated(
      { issuer: oidc.issuer, subject, email },
      byAccount(address),
    );
    // A token without a time of issue may be older than any revocation.
    if (madeTooEarly(account, claims.issuedAt ?? new Date(0))) return undefined;
    return { account, tokenId: id, tokenExpiresAt: claims.expiresAt };
  }
}

function madeTooEarly({ tokensNotBefore }: Account, made: Date): boolean {
  return tokensNotBefore !== undefined && tokensNotBefore !== null && made < tokensNotBefore;
}
