import { PlatenError } from '../../infra/errors/registry.ts';
import type { UnrecordedChange } from '../audit/audit-log.ts';
import type { PlanName } from '../plans/plan.ts';
import type { QuotaWindow } from '../plans/quota-period.ts';

/** What an account's subscription gives it. */
export interface Subscribed {
  readonly plan: PlanName;
  /** Null for the calendar month. */
  readonly quotaWindow: QuotaWindow | null;
}

export interface Account {
  readonly _id: string;
  /** The address that is shown. Null for an account of an issuer that has verified none. */
  readonly email: string | null;
  /**
   * The address, in lower case, for signing in with a password. An account of an issuer has none: its owner and the
   * person who registered the same address here may be two people.
   */
  readonly login?: string;
  /** What its owner calls it; absent for `nameOf`'s default. */
  readonly name?: string;
  /** From `hashPassword`; null for an account without a password. */
  readonly passwordHash: string | null;
  readonly plan: PlanName;
  readonly createdAt: Date;
  /** When the owner confirmed the address; absent before that, and for an issuer's account. */
  readonly emailVerifiedAt?: Date;
  /** Bearer tokens issued earlier are not valid. */
  readonly tokensNotBefore?: Date;
  /**
   * Raised when the owner of the address takes the account over from whoever registered it. Tokens, API keys, signing
   * keys and work of a lower fence have ended; absent stands for 0, in them as well.
   */
  readonly ownerFence?: number;
  /** When that happened last. */
  readonly takenOverAt?: Date;
  /** Since when the operator of the service has it suspended; absent for an account in good standing. */
  readonly suspendedAt?: Date;
  /** Since when it is being deleted; it is suspended then, for good. */
  readonly deletingSince?: Date;
  /** Who of the operators asked for that; absent when it was asked for by no name. */
  readonly deletedBy?: string;
  /** The person who owns it, once its ownership was transferred: the id of the record with which the person signs in. */
  readonly ownerId?: string;
  /** Its person came by the invitation of another account, and signs in with it: it has no work of its own. */
  readonly memberOnly?: true;
  /** The account at whose issuer its person signs in, by `signInDomain`; the record ends with that. Absent for others. */
  readonly managedBy?: string;
  /** The mail domain of that issuer. */
  readonly signInDomain?: string;
  /** Domains whose members may open it only through the issuer that is set for them; absent for none. */
  readonly issuerRequiredFor?: readonly string[];
  /** Only people who have signed in with a second factor may act for it. */
  readonly requiresSecondFactor?: true;
  /** Headers and bodies of its requests are not kept in the log. */
  readonly withoutRequestDetails?: true;
  /** The account that its person acted for last in a browser; absent for the own one. */
  readonly actsFor?: string;
  /** The operator of the service has created the account or taken it over; absent for other accounts. */
  readonly byOperator?: true;
  /** The subscription period whose quota is used; absent or null for the calendar month. */
  readonly quotaWindow?: QuotaWindow | null;
  /** Fence of the last writer that set `plan` and `quotaWindow` from the subscription. */
  readonly billingFence?: number;
  /** What that writer set: a plan that was set by hand since stays until the subscription changes. */
  readonly subscribed?: Subscribed;
  /** Changes by that writer that are not in the audit log yet. */
  readonly unrecorded?: readonly UnrecordedChange[];
}

/** @throws PlatenError ACCOUNT_SUSPENDED */
export function requireActive({
  suspendedAt,
  deletingSince,
}: Pick<Account, 'suspendedAt' | 'deletingSince'>): void {
  if (deletingSince !== undefined)
    throw new PlatenError('ACCOUNT_SUSPENDED', 'The operator of this installation is deleting the account.');
  if (suspendedAt !== undefined) throw new PlatenError('ACCOUNT_SUSPENDED');
}
