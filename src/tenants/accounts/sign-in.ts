import { FairSemaphore } from '../../infra/async/fair-semaphore.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import { hashSecret } from '../../infra/ids/hash-secret.ts';
import { type AuditAction, byAccount } from '../audit/audit-log.ts';
import { networkOf } from '../limits/network-of.ts';
import type { Browser, IssuedToken } from './access-token-store.ts';
import { requireActive } from './account.ts';
import type { AccountAccess, Acting } from './account-access.ts';
import { openLink } from './account-links.ts';
import type { AccountService } from './account-service.ts';
import type { Account } from './account-store.ts';
import type { Session } from './bearer.ts';
import type { PasskeyProof, Passkeys } from './passkeys.ts';
import { verifyPassword } from './password.ts';
import type { Registration, RegistrationRequest } from './registration.ts';
import type { SecondFactors } from './second-factor.ts';
import type { Stores } from './stores.ts';

export interface Credentials {
  readonly email: string;
  readonly password: string;
  /** Of the second factor, where the person has one. */
  readonly code?: string | undefined;
  /** In place of a code. */
  readonly passkey?: PasskeyProof | undefined;
}

/** Who has signed in, and the token that shows it. */
export type SignedIn = IssuedToken & Acting & Pick<Session, 'secondFactor'>;

/** The client's IP address; undefined when the connection is closed already. */
type Address = string | undefined;

interface SignInDeps extends Pick<Stores, 'accounts' | 'tokens' | 'failures' | 'links' | 'audit'> {
  readonly accountService: AccountService;
  readonly access: AccountAccess;
  readonly registration: Registration;
  readonly secondFactors: Pick<SecondFactors, 'require'>;
  readonly passkeys: Pick<Passkeys, 'prove' | 'isGone'>;
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
   * CODE_REQUIRED; WRONG_CODE; PASSKEY_REFUSED; TOO_MANY_FAILURES; UNAVAILABLE.
   */
  async signIn(credentials: Credentials, address: Address, browser?: Browser): Promise<SignedIn> {
    const { issued } = await this.#attempt(credentials, address, {
      action: 'account.signed_in',
      permits: this.#signingIn,
      prove: (given) => this.#ownerOf(given),
      browser,
    });
    await this.#recordSignIn(issued, address);
    return issued;
  }

  /**
   * Has a browser's session act for another account of the person, with a new token.
   *
   * @throws PlatenError NOT_FOUND when the person does not belong to the account; ACCOUNT_SUSPENDED.
   */
  async actFor(
    { person, tokenId, secondFactor }: Session,
    accountId: string,
    address: Address,
  ): Promise<SignedIn> {
    const { access, tokens, accounts } = this.#deps;
    const acting = await access.act(person, accountId);
    if (acting === undefined || acting.role === 'none')
      throw new PlatenError('NOT_FOUND', 'You belong to no such account.');
    requireActive(acting.account);
    await accounts.setActsFor(person._id, accountId);
    const issued = await tokens.succeed(tokenId, accountId);
    if (issued === undefined) throw new PlatenError('UNAUTHENTICATED', 'The session has ended.');
    await this.#recordSignIn(acting, address);
    return { ...issued, ...acting, secondFactor };
  }

  /** @returns the token of a link that signs in to the account once, within an hour. */
  async offerLink({ _id: accountId, email }: Account): Promise<string> {
    const { secret } = await this.#deps.links.create({ accountId, purpose: 'sign-in', email }, LINK_MS);
    return secret;
  }

  /** Signs in with the token of a link. @throws PlatenError LINK_INVALID; ACCOUNT_SUSPENDED */
  async signInByLink(token: string, address: Address, browser: Browser): Promise<SignedIn> {
    const person = await openLink(this.#deps, token, 'sign-in');
    requireActive(person);
    // The operator of the service has printed the link, and can do whatever a code protects from.
    const issued = await this.#token(person, browser, false);
    await this.#recordSignIn(issued, address);
    return issued;
  }

  /**
   * Signs in the person that a passkey names, without address and password.
   *
   * @throws PlatenError PASSKEY_REFUSED; ACCOUNT_SUSPENDED.
   */
  async signInByPasskey(proof: PasskeyProof, address: Address, browser: Browser): Promise<SignedIn> {
    const { passkeys, accounts, tokens } = this.#deps;
    const passkey = await passkeys.prove(proof, address);
    const person = await accounts.findNow(passkey.accountId);
    if (person === undefined || (person.ownerFence ?? 0) !== passkey.ownerFence)
      throw new PlatenError('PASSKEY_REFUSED');
    requireActive(person);
    const issued = await this.#token(person, browser, true);
    // Its removal ends the sessions that there are by then.
    if (await passkeys.isGone(passkey)) {
      await tokens.revoke(hashSecret(issued.token), person._id, issued.expiresAt);
      throw new PlatenError('PASSKEY_REFUSED');
    }
    await this.#recordSignIn(issued, address);
    return issued;
  }

  /**
   * Sets a new password, and revokes all sessions and tokens of the account, including this one.
   *
   * @param browser whose session continues with a new token; absent for a bearer token, which is revoked.
   * @returns the new token, if there is one.
   * @throws PlatenError WRONG_PASSWORD; VALIDATION for an account of an issuer; TOO_MANY_FAILURES; UNAVAILABLE.
   */
  async changePassword(
    { account, person, secondFactor }: Session,
    { current, next }: { readonly current: string; readonly next: string },
    address: Address,
    browser: Browser | undefined,
  ): Promise<IssuedToken | undefined> {
    const { accountService, tokens } = this.#deps;
    const { login: email } = person;
    if (email === undefined) {
      throw new PlatenError('VALIDATION', 'The account signs in through an issuer and has no password.');
    }
    const proven = await this.#requirePassword(email, current, 'account.password_reset', address);
    if (!(await accountService.resetPassword(proven, next, byAccount(address, person._id))))
      throw new PlatenError('UNAUTHENTICATED', 'The account has another owner now.');
    const { _id, ownerFence } = person;
    return browser && (await tokens.issue(_id, browser, ownerFence, account._id, secondFactor));
  }

  /** Whether it is the account's password. @throws PlatenError WRONG_PASSWORD; TOO_MANY_FAILURES; UNAVAILABLE. */
  async provesOwner({ _id, login = '' }: Account, password: string, address: Address): Promise<boolean> {
    const proven = await this.#requirePassword(login, password, 'account.address_confirmed', address);
    return proven._id === _id;
  }

  /** Revokes the session's own token. */
  async signOut({ person, tokenId, tokenExpiresAt }: Session, address: Address): Promise<void> {
    await this.#deps.tokens.revoke(tokenId, person._id, tokenExpiresAt);
    await this.#record(person, 'account.signed_out', address);
  }

  /** Ends it in every process within a second. @throws PlatenError NOT_FOUND for no open session of the account. */
  async endSession(person: Account, sessionId: string, address: Address): Promise<void> {
    if (!(await this.#deps.tokens.endSession(person._id, sessionId))) {
      throw new PlatenError('NOT_FOUND', 'There is no such session.');
    }
    await this.#record(person, 'account.signed_out', address);
  }

  /** Records a failure in the audit log; recording a success is left to the caller. */
  async #attempt<Given extends Credentials>(
    given: Given,
    address: Address,
    attempt: Attempt<Given>,
  ): Promise<{ account: Account; issued: SignedIn }> {
    const { action, browser } = attempt;
    const credentials = { ...given, email: given.email.toLowerCase() };
    const account = await this.#proven(credentials, address, attempt);
    if (account !== undefined) requireActive(account);
    const hasFactor = account !== undefined && (await this.#requireCode(account, given, action, address));
    const issued = account && (await this.#issue(account, credentials.email, browser, hasFactor));
    if (account === undefined || issued === undefined) {
      await this.#recordFailure(action, credentials.email, address);
      throw new PlatenError('UNAUTHENTICATED', 'The e-mail address or the password is wrong.');
    }
    return { account, issued };
  }

  /** Whether the person has a second factor, whose code is right then. @throws as `SecondFactors.require` */
  async #requireCode(
    person: Account,
    { email, ...given }: Credentials,
    action: AuditAction,
    address: Address,
  ): Promise<boolean> {
    try {
      return await this.#deps.secondFactors.require(person, given, address);
    } catch (error) {
      if (error instanceof PlatenError && ['WRONG_CODE', 'PASSKEY_REFUSED'].includes(error.code))
        await this.#recordFailure(action, email, address);
      throw error;
    }
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
    person: Account,
    email: string,
    browser: Browser | undefined,
    hasFactor: boolean,
  ): Promise<SignedIn | undefined> {
    const { tokens, accounts } = this.#deps;
    const { _id, passwordHash } = person;
    const issued = await this.#token(person, browser, hasFactor);
    if ((await accounts.findByEmail(email))?.passwordHash === passwordHash) return issued;
    await tokens.revoke(hashSecret(issued.token), _id, issued.expiresAt);
    return undefined;
  }

  /** A token for the person, who acts for the account where a browser was last, or for the own one. */
  async #token(person: Account, browser: Browser | undefined, hasFactor: boolean): Promise<SignedIn> {
    const { tokens, access } = this.#deps;
    const { _id, ownerFence } = person;
    const acting = await access.landing(person, browser && person.actsFor);
    const issued = await tokens.issue(_id, browser, ownerFence, acting.account._id, hasFactor);
    return { ...issued, ...acting, secondFactor: hasFactor };
  }

  /** Records it for the person's own account, and for the account that the person acts for. */
  async #recordSignIn({ account, person }: Acting, address: Address): Promise<void> {
    for (const accountId of new Set([person._id, account._id])) {
      const by = byAccount(address, person._id);
      await this.#deps.audit.record({ accountId, action: 'account.signed_in', ...by });
    }
  }

  #record({ _id }: Account, action: AuditAction, address: Address): Promise<void> {
    return this.#deps.audit.record({ accountId: _id, action, ...byAccount(address, _id) });
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
