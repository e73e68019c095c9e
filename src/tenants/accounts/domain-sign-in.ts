import { LRUCache } from 'lru-cache';
import { FairSemaphore } from '../../infra/async/fair-semaphore.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import { namedUuid } from '../../infra/ids/named-uuid.ts';
import { byAccount } from '../audit/audit-log.ts';
import { networkOf } from '../limits/network-of.ts';
import { MAX_MEMBERSHIPS } from '../members/membership-store.ts';
import type { SignInDomain } from '../members/sign-in-domain-store.ts';
import type { Browser } from './access-token-store.ts';
import type { AccountAccess } from './account-access.ts';
import type { AccountService } from './account-service.ts';
import type { Account } from './account-store.ts';
import { OidcClient, type PendingSignIn } from './oidc-client.ts';
import { OidcIssuer } from './oidc-issuer.ts';
import { EXCHANGES, land } from './oidc-sign-in.ts';
import type { SignedIn } from './sign-in.ts';
import { domainOf } from './sign-in-domains.ts';
import type { Stores } from './stores.ts';

interface DomainSignInDeps
  extends Pick<Stores, 'domains' | 'accounts' | 'memberships' | 'tokens' | 'failures' | 'audit' | 'clock'> {
  readonly accountService: AccountService;
  readonly access: AccountAccess;
  /** Reaches only what customers may name. */
  readonly fetch: typeof fetch;
}

/** Issuers whose metadata is kept. */
const KEPT_ISSUERS = 500;

/**
 * Signs people in at the issuer that the account of their mail domain has set. They are people of that account: the issuer
 * speaks for nobody else, whatever address it names.
 */
export class DomainSignIn {
  readonly #deps: DomainSignInDeps;
  readonly #exchanges = new FairSemaphore(EXCHANGES);
  readonly #issuers = new LRUCache<string, OidcIssuer>({ max: KEPT_ISSUERS });

  constructor(deps: DomainSignInDeps) {
    this.#deps = deps;
  }

  /**
   * @param redirectUri where the issuer sends the browser back to: an address for this domain alone, so that no issuer
   * can pass on the response of another.
   * @param address the client's IP address; undefined when the connection is closed already.
   * @throws PlatenError NOT_FOUND for a domain that nobody signs in with, whatever the reason; TOO_MANY_FAILURES after
   * many of them; UNAVAILABLE.
   */
  async begin(domain: string, redirectUri: string, returnTo: string, address: string | undefined) {
    const succeed = await this.#deps.failures.begin(`domain ${domain}`, address);
    const { claim } = await this.#inForce(domain);
    await succeed();
    const begun = await this.#clientOf(claim).begin(redirectUri, returnTo);
    if (!begun.location.startsWith('https:'))
      throw new PlatenError('UNAVAILABLE', 'The issuer has no https page.');
    return { ...begun, pending: { ...begun.pending, domain } };
  }

  /**
   * The first sign-in makes the person a member, with the role that the owner has set.
   *
   * @param authResponse the parameters that the issuer sent the browser back with.
   * @throws PlatenError NOT_FOUND; UNAUTHENTICATED when the response does not belong to the pending sign-in, denies it, or
   * names no address of the domain; MEMBER_CAPACITY; UNAVAILABLE.
   */
  finish(
    domain: string,
    authResponse: URLSearchParams,
    { pending, redirectUri }: { readonly pending: PendingSignIn; readonly redirectUri: string },
    address: string | undefined,
    browser: Browser,
  ): Promise<SignedIn> {
    return this.#exchanges.run(networkOf(address), async () => {
      const { memberships, tokens } = this.#deps;
      const { claim } = await this.#inForce(domain);
      const { subject, email } = await this.#clientOf(claim).exchange(authResponse, pending, redirectUri);
      if (email === null || domainOf(email) !== domain)
        throw new PlatenError('UNAUTHENTICATED', `The issuer names no address of ${domain}.`);
      const { account } = await this.#inForce(domain);
      const person = await this.#personOf(claim, account, { subject, email }, address);
      // Whoever has ended it since has not seen the person.
      const confirm = () =>
        this.#inForce(domain).catch(async (error: unknown) => {
          await memberships.remove(account._id, person._id);
          await tokens.deleteOf(person._id);
          throw error;
        });
      return land(this.#deps, person, person.actsFor ?? account._id, { address, browser }, confirm);
    });
  }

  /** The claim that holds a domain, and its account. */
  async #inForce(domain: string): Promise<{ readonly claim: SignInDomain; readonly account: Account }> {
    const { domains, accounts } = this.#deps;
    const claim = await domains.holding(domain);
    const account = claim && (await accounts.findNow(claim.accountId));
    const counts =
      account !== undefined &&
      account.suspendedAt === undefined &&
      (account.ownerFence ?? 0) === claim!.ownerFence;
    if (!counts) throw new PlatenError('NOT_FOUND', 'Nobody signs in at an issuer with this domain.');
    return { claim: claim!, account };
  }

  /** A record of its own, which no other issuer and no other account can name. */
  async #personOf(
    claim: SignInDomain,
    account: Account,
    { subject, email }: { readonly subject: string; readonly email: string },
    address: string | undefined,
  ): Promise<Account> {
    const { accounts, accountService, memberships, audit } = this.#deps;
    const personId = namedUuid(claim._id, claim.issuer, subject);
    const by = byAccount(address, personId);
    if ((await accounts.findNow(personId)) === undefined) {
      const { role } = claim;
      if ((await memberships.ofAccount(account._id)).length >= MAX_MEMBERSHIPS)
        throw new PlatenError('MEMBER_CAPACITY');
      // Before the person: who is there and no member was removed by the owner, and does not come back.
      const fences = { ownerFence: account.ownerFence, personFence: undefined };
      await memberships.put({ accountId: account._id, personId, role, ...fences });
      await audit.record({
        ...{ accountId: account._id, action: 'member.joined', ...by },
        ...{ targetId: personId, details: { role, domain: claim.domain } },
      });
    }
    return accountService.findOrCreateManaged(personId, email, claim, by);
  }

  #clientOf({ issuer, clientId, clientSecret }: SignInDomain): OidcClient {
    const { clock, fetch } = this.#deps;
    const known = this.#issuers.get(issuer) ?? new OidcIssuer({ issuer, clock, fetch });
    this.#issuers.set(issuer, known);
    return new OidcClient({ issuer: known, clock, clientId, clientSecret, vouches: true });
  }
}
