import { FairSemaphore } from '../async/fair-semaphore.ts';
import { type AuditAction, type AuditLog, byAccount } from '../audit/audit-log.ts';
import { PlatenError } from '../errors/registry.ts';
import { networkOf } from '../limits/network-of.ts';
import { type AccessTokenStore, type IssuedToken, tokenId } from './access-token-store.ts';
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

/** The client's address; undefined when the connection is gone already. */
type Address = string | undefined;

export interface SignInParts {
  readonly accountService: AccountService;
  readonly accounts: AccountStore;
  readonly tokens: AccessTokenStore;
  readonly failures: FailureLimit;
  readonly registration: Registration;
  readonly audit: AuditLog;
}

/**
 * Each hashing takes a thread and 19 MiB; files are read by the same four threads. Some seconds of work may wait: whoever
 * would wait longer is told to come back. Those who register wait apart from those who sign in.
 */
const SIGNING_IN = { permits: 2, maxWaiting: 50, maxWaitingOfKey: 20, full } as const;
const REGISTERING = { permits: 1, maxWaiting: 25, maxWaitingOfKey: 10, full } as const;
const RETRY_AFTER_FULL_S = 5;

/** What is attempted, and what comes before and in it. */
interface Attempt<Given extends Credentials> {
  readonly action: AuditAction;
  readonly turns: FairSemaphore;
  /** Answers the account that the credentials open, or undefined. */
  readonly prove: (given: Given) => Promise<Account | undefined>;
}

/**
 * Signing up, in and out with a password. A failure is one answer after one hashing and the same writes, whether the
 * address has an account or not; see docs/decisions/0010-sign-in-tells-nothing.md.
 */
export class SignIn {
  readonly #parts: SignInParts;
  readonly #signingIn = new FairSemaphore(SIGNING_IN);
  readonly #registering = new FairSemaphore(REGISTERING);

  constructor(parts: SignInParts) {
    this.#parts = parts;
  }

  /**
   * Makes an account, on the free plan unless an invitation says another.
   *
   * @throws PlatenError UNAUTHENTICATED when the address has an account; REGISTRATION_CLOSED; INVITATION_INVALID;
   * TOO_MANY_REGISTRATIONS; TOO_MANY_FAILURES; UNAVAILABLE.
   */
  async register(request: RegistrationRequest, address: Address): Promise<IssuedToken> {
    const { registration } = this.#parts;
    await registration.admit(request, address);
    const { issued } = await this.#attempt(request, address, {
      action: 'account.registered',
      turns: this.#registering,
      prove: (given) => registration.create(given, address),
    });
    return issued;
  }

  /** @throws PlatenError UNAUTHENTICATED when address and password do not fit; TOO_MANY_FAILURES; UNAVAILABLE. */
  async signIn(credentials: Credentials, address: Address): Promise<IssuedToken> {
    const prove = async ({ email, password }: Credentials) => {
      const account = await this.#parts.accounts.findByEmail(email);
      const right = await verifyPassword(password, account?.passwordHash ?? null);
      return right ? account : undefined;
    };
    const { account, issued } = await this.#attempt(credentials, address, {
      action: 'account.signed_in',
      turns: this.#signingIn,
      prove,
    });
    await this.#record(account, 'account.signed_in', address);
    return issued;
  }

  /** Ends the session's own token. */
  async signOut({ account, tokenId, tokenExpiresAt }: Session, address: Address): Promise<void> {
    await this.#parts.tokens.revoke(tokenId, account._id, tokenExpiresAt);
    await this.#record(account, 'account.signed_out', address);
  }

  /** A failure is recorded; what comes of success is for whoever attempts. */
  async #attempt<Given extends Credentials>(
    given: Given,
    address: Address,
    { action, turns, prove }: Attempt<Given>,
  ): Promise<{ account: Account; issued: IssuedToken }> {
    const { failures } = this.#parts;
    const credentials = { ...given, email: given.email.toLowerCase() };
    const account = await turns.run(networkOf(address), async () => {
      const turnedOutWell = await failures.begin(credentials.email, address);
      const proven = await prove(credentials);
      if (proven !== undefined) await turnedOutWell();
      return proven;
    });
    const issued = account && (await this.#issue(account, credentials.email));
    if (account === undefined || issued === undefined) {
      await this.#recordFailure(action, credentials.email, address);
      throw new PlatenError('UNAUTHENTICATED', 'The e-mail address and the password do not fit.');
    }
    return { account, issued };
  }

  /**
   * A token for the account as it was when the password was looked at. A change of the password ends the tokens that
   * there are; one that was about to be issued meanwhile is ended here.
   */
  async #issue({ _id, passwordHash }: Account, email: string): Promise<IssuedToken | undefined> {
    const { tokens, accounts } = this.#parts;
    const issued = await tokens.issue(_id);
    if ((await accounts.findByEmail(email))?.passwordHash === passwordHash) return issued;
    await tokens.revoke(tokenId(issued.token), _id, issued.expiresAt);
    return undefined;
  }

  #record({ _id }: Account, action: AuditAction, address: Address): Promise<void> {
    return this.#parts.audit.record({ accountId: _id, action, ...byAccount(address) });
  }

  async #recordFailure(attempted: AuditAction, email: string, address: Address): Promise<void> {
    const account = await this.#parts.accounts.findByEmail(email);
    await this.#parts.audit.record({
      accountId: account?._id ?? null,
      action: 'account.sign_in_failed',
      actor: 'anonymous',
      ipAddress: address,
      details: { attempted },
    });
  }
}

function full(): PlatenError {
  return new PlatenError('UNAVAILABLE', 'Too many are signing in at the moment.', {
    retryAfterSeconds: RETRY_AFTER_FULL_S,
  });
}
