import { FairSemaphore } from '../../infra/async/fair-semaphore.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import { hashSecret } from '../../infra/ids/hash-secret.ts';
import { type AuditAction, type AuditLog, byAccount } from '../audit/audit-log.ts';
import { networkOf } from '../limits/network-of.ts';
import type { AccessTokenStore, Browser, IssuedToken } from './access-token-store.ts';
import { requireActive } from './account.ts';
import { type AccountLinks, openLink } from './account-links.ts';
import type { AccountService } from './account-service.ts';
import type { Account, AccountStore } from './account-store.ts';
import type { Session } from './bearer.ts';
import type { FailureLimit } from './failure-limit.ts';
import { verifyPassword } from './password.ts';
import type { Registration, RegistrationRequest } from './registration.ts';

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** The client's IP address; undefined when the connection is closed already. */
type Address = string | undefined;

interface SignInDeps {
  readonly accountService: AccountService;
  readonly accounts: AccountStore;
  readonly tokens: AccessTokenStore;
  readonly failures: FailureLimit;
  readonly registration: Registration;
  readonly links: AccountLinks;
  readonly audit: AuditLog;
}

/**
 * Hashing a password takes one of four threads, which also read files, and 19 MiB. Requests for a few seconds of work
 * may wait; further requests are rejected. Registrations and sign-ins wait in separate queues.
 */
const SIGNING_IN = { permits: 2, maxWaiting: 50, maxWaitingOfKey: 20, full: tooMany } as const;
const REGISTERING = { permits: 1, maxWaiting: 25, maxWaitingOfKey: 10, full: tooMany } as const;
const RETRY_AFTER_FULL_S = 5;
/** How long a printed sign-in link is valid, in milliseconds. */
const LINK_MS = 3_600_000;

/** A sign-in, a registration or a change of password. */
interface Attempt<Given extends Credentials> {
  readonly action: AuditAction;
  readonly permits: FairSemaphore;
  /** Resolves with the account that the credentials prove, or undefined. */
  readonly prove: (given: Given) => Promise<Account | undefined>;
  /** The browser that gets the token in a cookie; absent for a bearer token. */
  readonly browser?: Browser | undefined;
}

/**
 * Registers, signs in and signs out with a password. Every failure gives the same response after one hashing and the
 * same writes, whether or not the address has an account; see docs/decisions/0010-sign-in-tells-nothing.md.
 */
export class SignIn {
  readonly #deps: SignInDeps;
  readonly #signingIn = new FairSemaphore(SIGNING_IN);
  readonly #registering = new FairSemaphore(REGISTERING);

  constructor(deps: SignInDeps) {
    this.#deps = deps;
  }

  /**
   * Creates an account on the plan of the invitation. Default: free.
   *
   * @throws PlatenError UNAUTHENTICATED when the address has an account; REGISTRATION_CLOSED; INVITATION_INVALID;
   * TOO_MANY_REGISTRATIONS; TOO_MANY_FAILURES; UNAVAILABLE.
   */
  async register(
    request: RegistrationRequest,
    address: Address,
  ): Promise<IssuedToken & { readonly account: Account }> {
    const { registration } = this.#deps;
    await registration.admit(request, address);
    const { account, issued } = await this.#attempt(request, address, {
      action: 'account.registered',
      permits: this.#registering,
      prove: (given) => registration.create(given, address),
    });
    return { ...issued, account };
  }

  /**
   * @param browser that gets the token in a cookie; absent for a bearer token.
   * @throws PlatenError UNAUTHENTICATED when address and password do not match; ACCOUNT_SUSPENDED;
   * TOO_MANY_FAILURES; UNAVAILABLE.
   */
  async signIn(
    credentials: Credentials,
    address: Address,
    browser?: Browser,
  ): Promise<IssuedToken & { readonly account: Account }> {
    const { account, issued } = await this.#attempt(credentials, address, {
      action: 'account.signed_in',
      permits: this.#signingIn,
      prove: (given) => this.#ownerOf(given),
      browser,
    });
    await this.#record(account, 'account.signed_in', address);
    return { ...issued, account };
  }

  /** @returns the token of a link that signs in to the account once, within an hour. */
  async offerLink({ _id: accountId, email }: Account): Promise<string> {
    const { secret } = await this.#deps.links.create({ accountId, purpose: 'sign-in', email }, LINK_MS);
    return secret;
  }

  /** Signs in with the token of a link. @throws PlatenError LINK_INVALID; ACCOUNT_SUSPENDED */
  async signInByLink(
    token: string,
    address: Address,
    browser: Browser,
  ): Promise<IssuedToken & { readonly account: Account }> {
    const account = await openLink(this.#deps, token, 'sign-in');
    requireActive(account);
    const issued = await this.#deps.tokens.issue(account._id, browser, account.ownerFence);
    await this.#record(account, 'account.signed_in', address);
    return { ...issued, account };
  }

  /**
   * Sets a new password, and revokes all sessions and tokens of the account, including this one.
   *
   * @param browser whose session continues with a new token; absent for a bearer token, which is revoked.
   * @returns the new token, if there is one.
   * @throws PlatenError WRONG_PASSWORD; VALIDATION for an account of an issuer; TOO_MANY_FAILURES; UNAVAILABLE.
   */
  async changePassword(
    { account }: Session,
    { current, next }: { readonly current: string; readonly next: string },
    address: Address,
    browser: Browser | undefined,
  ): Promise<IssuedToken | undefined> {
    const { accountService, tokens } = this.#deps;
    const { login: email } = account;
    if (email === undefined) {
      throw new PlatenError('VALIDATION', 'The account signs in through an issuer and has no password.');
    }
    const proven = await this.#requirePassword(email, current, 'account.password_reset', address);
    if (!(await accountService.resetPassword(proven, next, byAccount(address))))
      throw new PlatenError('UNAUTHENTICATED', 'The account has another owner now.');
    return browser && (await tokens.issue(account._id, browser, account.ownerFence));
  }

  /** Whether it is the account's password. @throws PlatenError WRONG_PASSWORD; TOO_MANY_FAILURES; UNAVAILABLE. */
  async provesOwner({ _id, login = '' }: Account, password: string, address: Address): Promise<boolean> {
    const proven = await this.#requirePassword(login, password, 'account.address_confirmed', address);
    return proven._id === _id;
  }

  /** Revokes the session's own token. */
  async signOut({ account, tokenId, tokenExpiresAt }: Session, address: Address): Promise<void> {
    await this.#deps.tokens.revoke(tokenId, account._id, tokenExpiresAt);
    await this.#record(account, 'account.signed_out', address);
  }

  /** Ends it in every process within a second. @throws PlatenError NOT_FOUND for no open session of the account. */
  async endSession(account: Account, sessionId: string, address: Address): Promise<void> {
    if (!(await this.#deps.tokens.endSession(account._id, sessionId))) {
      throw new PlatenError('NOT_FOUND', 'There is no such session.');
    }
    await this.#record(account, 'account.signed_out', address);
  }

  /** Records a failure in the audit log; recording a success is left to the caller. */
  async #attempt<Given extends Credentials>(
    given: Given,
    address: Address,
    attempt: Attempt<Given>,
  ): Promise<{ account: Account; issued: IssuedToken }> {
    const { action, browser } = attempt;
    const credentials = { ...given, email: given.email.toLowerCase() };
    const account = await this.#proven(credentials, address, attempt);
    if (account !== undefined) requireActive(account);
    const issued = account && (await this.#issue(account, credentials.email, browser));
    if (account === undefined || issued === undefined) {
      await this.#recordFailure(action, credentials.email, address);
      throw new PlatenError('UNAUTHENTICATED', 'The e-mail address or the password is wrong.');
    }
    return { account, issued };
  }

  /** Counts as a failure from its beginning until it succeeds. @returns undefined when nothing is proven. */
  #proven<Given extends Credentials>(
    credentials: Given,
    address: Address,
    { permits, prove }: Attempt<Given>,
  ): Promise<Account | undefined> {
    return permits.run(networkOf(address), async () => {
      const succeed = await this.#deps.failures.begin(credentials.email, address);
      const proven = await prove(credentials);
      if (proven !== undefined) await succeed();
      return proven;
    });
  }

  /** The account of an address. @throws PlatenError WRONG_PASSWORD; TOO_MANY_FAILURES; UNAVAILABLE. */
  async #requirePassword(
    email: string,
    password: string,
    action: AuditAction,
    address: Address,
  ): Promise<Account> {
    const proven = await this.#proven({ email, password }, address, {
      action,
      permits: this.#signingIn,
      prove: (given) => this.#ownerOf(given),
    });
    if (proven !== undefined) return proven;
    await this.#recordFailure(action, email, address);
    throw new PlatenError('WRONG_PASSWORD');
  }

  /** The account that has this address and this password. */
  async #ownerOf({ email, password }: Credentials): Promise<Account | undefined> {
    const account = await this.#deps.accounts.findByEmail(email);
    const right = await verifyPassword(password, account?.passwordHash ?? null);
    return right ? account : undefined;
  }

  /**
   * A token for the account as it was when the password was verified. A change of the password revokes existing tokens;
   * a token that is issued concurrently with the change is revoked here.
   */
  async #issue(
    { _id, passwordHash, ownerFence }: Account,
    email: string,
    browser: Browser | undefined,
  ): Promise<IssuedToken | undefined> {
    const { tokens, accounts } = this.#deps;
    const issued = await tokens.issue(_id, browser, ownerFence);
    if ((await accounts.findByEmail(email))?.passwordHash === passwordHash) return issued;
    await tokens.revoke(hashSecret(issued.token), _id, issued.expiresAt);
    return undefined;
  }

  #record({ _id }: Account, action: AuditAction, address: Address): Promise<void> {
    return this.#deps.audit.record({ accountId: _id, action, ...byAccount(address) });
  }

  async #recordFailure(attempted: AuditAction, email: string, address: Address): Promise<void> {
    const account = await this.#deps.accounts.findByEmail(email);
    await this.#deps.audit.record({
      accountId: account?._id ?? null,
      action: 'account.sign_in_failed',
      actor: 'anonymous',
      ipAddress: address,
      details: { attempted },
    });
  }
}

/** The rejection of a sign-in when the queue is full. */
export function tooMany(): PlatenError {
  return new PlatenError('UNAVAILABLE', 'Too many are signing in at the moment.', {
    retryAfterSeconds: RETRY_AFTER_FULL_S,
  });
}
