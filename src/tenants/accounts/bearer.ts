import { hashSecret } from '../../infra/ids/hash-secret.ts';
import { byAccount } from '../audit/audit-log.ts';
import { isIdle, isOwnToken, isSessionToken, type OpenSession } from './access-token-store.ts';
import type { AccountAccess, Acting } from './account-access.ts';
import type { AccountService } from './account-service.ts';
import type { Account } from './account-store.ts';
import type { OidcVerifier } from './oidc-verifier.ts';
import type { Stores } from './stores.ts';

/** The person that an access token authenticates, and the account that the person acts for. */
export interface Session extends Acting {
  readonly tokenId: string;
  readonly tokenExpiresAt: Date;
  /** Whether the person has signed in with a second factor, or through an issuer. */
  readonly secondFactor: boolean;
  /** When the browser that holds the token in a cookie signed in; absent for a bearer token. */
  readonly signedInAt?: Date;
}

interface BearerDeps extends Pick<Stores, 'accounts' | 'tokens' | 'clock'> {
  readonly accountService: AccountService;
  readonly access: AccountAccess;
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

  /** Whether the person has the same role in the account as when the session was read; at most one second late. */
  async hasRole({ account, person, role }: Session): Promise<boolean> {
    return (await this.#deps.access.roleIn(account, person)) === role;
  }

  /** Whether a token or session is still valid; at most one second late. It does not count as use. */
  async isOpen({ account, person, tokenId, tokenExpiresAt }: Session): Promise<boolean> {
    const { tokens, accounts, access, clock } = this.#deps;
    const now = clock.now();
    if (tokenExpiresAt <= now) return false;
    const [known, owner] = await Promise.all([tokens.find(tokenId), accounts.find(person._id)]);
    if (known?.revoked || owner === undefined || owner.suspendedAt !== undefined) return false;
    if (known !== undefined && isIdle(known, now)) return false;
    if (account._id !== person._id) {
      const acting = await access.act(owner, account._id);
      if (acting === undefined || acting.account.suspendedAt !== undefined) return false;
    }
    // When the two times differ, all tokens of the person, including this one, have been revoked since.
    return owner.tokensNotBefore?.getTime() === person.tokensNotBefore?.getTime();
  }

  async #own(token: string): Promise<Session | undefined> {
    const id = hashSecret(token);
    const known = await this.#deps.tokens.find(id);
    if (known === undefined || known.revoked || known.expiresAt <= this.#deps.clock.now()) return undefined;
    const person = await this.#deps.accounts.findOwned(known.accountId, known.ownerFence);
    if (person === undefined || madeTooEarly(person, known.createdAt)) return undefined;
    const acting = await this.#deps.access.act(person, known.memberOf);
    const secondFactor = known.secondFactor === true;
    return acting && { ...acting, tokenId: id, tokenExpiresAt: known.expiresAt, secondFactor };
  }

  async #issuers(token: string, address: string | undefined): Promise<Session | undefined> {
    const { oidc, tokens, accountService } = this.#deps;
    const claims = await oidc?.verify(token);
    if (oidc === undefined || claims === undefined) return undefined;
    const id = hashSecret(token);
    if ((await tokens.find(id))?.revoked) return undefined;
    const { subject, email } = claims;
    const person = await accountService.findOrCreateFederated(
      { issuer: oidc.issuer, subject, email },
      byAccount(address),
    );
    // A token without a time of issue may be older than any revocation.
    if (madeTooEarly(person, claims.issuedAt ?? new Date(0))) return undefined;
    const acting = await this.#deps.access.act(person);
    return acting && { ...acting, tokenId: id, tokenExpiresAt: claims.expiresAt, secondFactor: true };
  }
}

function madeTooEarly({ tokensNotBefore }: Account, made: Date): boolean {
  return tokensNotBefore !== undefined && tokensNotBefore !== null && made < tokensNotBefore;
}
