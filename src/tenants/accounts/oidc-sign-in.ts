import { FairSemaphore } from '../../infra/async/fair-semaphore.ts';
import { byAccount } from '../audit/audit-log.ts';
import { networkOf } from '../limits/network-of.ts';
import type { Browser } from './access-token-store.ts';
import type { AccountAccess } from './account-access.ts';
import type { AccountService } from './account-service.ts';
import type { Account } from './account-store.ts';
import type { OidcClient, PendingSignIn } from './oidc-client.ts';
import { type SignedIn, tooMany } from './sign-in.ts';
import type { Stores } from './stores.ts';

/** What a session is made with. */
interface LandingDeps extends Pick<Stores, 'tokens' | 'audit'> {
  readonly access: AccountAccess;
}

interface OidcSignInDeps extends LandingDeps {
  /** The issuer identifier. */
  readonly issuer: string;
  readonly client: OidcClient;
  readonly accountService: AccountService;
}

/** Concurrent exchanges of codes for tokens: each sends requests to the issuer. Networks are served in rotation. */
export const EXCHANGES = { permits: 10, maxWaiting: 50, maxWaitingOfKey: 20, full: tooMany } as const;

/** Signs in at the issuer of the operator with a browser. The result is a session of this service. */
export class OidcSignIn {
  readonly #deps: OidcSignInDeps;
  readonly #exchanges = new FairSemaphore(EXCHANGES);

  constructor(deps: OidcSignInDeps) {
    this.#deps = deps;
  }

  /** As `OidcClient.begin`. */
  begin(redirectUri: string, returnTo: string) {
    return this.#deps.client.begin(redirectUri, returnTo);
  }

  /**
   * @param authResponse the parameters that the issuer sent the browser back with.
   * @throws PlatenError UNAUTHENTICATED when the response does not belong to the pending sign-in or denies it;
   * UNAVAILABLE.
   */
  finish(
    authResponse: URLSearchParams,
    { pending, redirectUri }: { readonly pending: PendingSignIn; readonly redirectUri: string },
    address: string | undefined,
    browser: Browser,
  ): Promise<SignedIn> {
    return this.#exchanges.run(networkOf(address), async () => {
      const { accountService, issuer, client } = this.#deps;
      const { subject, email } = await client.exchange(authResponse, pending, redirectUri);
      const person = await accountService.findOrCreateFederated(
        { issuer, subject, email },
        byAccount(address),
      );
      return land(this.#deps, person, person.actsFor, { address, browser });
    });
  }
}

/**
 * Ends a sign-in at an issuer: the person has a session, which acts for the account of `actsFor` if it may.
 *
 * @param confirm throws when the person may not be signed in any more.
 */
export async function land(
  { access, tokens, audit }: LandingDeps,
  person: Account,
  actsFor: string | undefined,
  { address, browser }: { readonly address: string | undefined; readonly browser: Browser },
  confirm?: () => Promise<unknown>,
): Promise<SignedIn> {
  const acting = await access.landing(person, actsFor);
  const issued = await tokens.issue(person._id, browser, person.ownerFence, acting.account._id, true);
  await confirm?.();
  for (const accountId of new Set([person._id, acting.account._id]))
    await audit.record({ accountId, action: 'account.signed_in', ...byAccount(address, person._id) });
  return { ...issued, ...acting, secondFactor: true };
}
