import type { Due } from '../../infra/store/due-queue.ts';

/** Amounts of money are US cents. */
export interface MailValues {
  /**
   * A new password was requested. `until`: ISO 8601, when the link expires. `endsAll`: the address was never confirmed,
   * so that the link ends what the account has.
   */
  readonly 'password-reset': { readonly token: string; readonly until: string; readonly endsAll?: boolean };
  /** The owner is asked to confirm the address. `until`: ISO 8601, when the link expires. */
  readonly 'email-verification': { readonly token: string; readonly until: string };
  /** The owner of the address has taken the account over: what was ended of it, and the templates that were kept. */
  readonly 'account-taken-over': {
    readonly apiKeys?: number;
    readonly signingKeys?: number;
    readonly batches?: number;
    readonly renders?: number;
    readonly callbacks?: number;
    readonly templates?: number;
  };
  /** Somebody is invited to an account. `until`: ISO 8601, when the invitation expires. `by`: the address of who invites. `account`: its name; absent in mails of an earlier version. */
  readonly 'team-invitation': {
    readonly token: string;
    readonly until: string;
    readonly by: string | null;
    readonly role: string;
    readonly account?: string;
  };
  /** An account has another owner: the addresses of both, which both are told. */
  readonly 'ownership-transferred': { readonly from: string | null; readonly to: string | null };
  /** Auto overage has bought a block. */
  readonly 'overage-purchased': {
    readonly units: number;
    readonly amountCents: number;
    /** Cost of the blocks bought in this billing period so far, and its cap. */
    readonly spentCents: number;
    readonly capCents: number;
  };
  /** A block that the owner bought is paid. */
  readonly 'overage-bought': { readonly units: number; readonly amountCents: number };
  /** A block could not be paid; auto overage is off. */
  readonly 'overage-failed': { readonly units: number; readonly amountCents: number };
  /** The bank requires the customer to confirm the payment of a block. */
  readonly 'overage-action-required': {
    readonly units: number;
    readonly amountCents: number;
    /** Page of the payment provider. */
    readonly payUrl: string;
    /** ISO 8601; the purchase is cancelled then. */
    readonly until: string;
  };
  /** Auto overage was turned off. */
  readonly 'auto-overage-disabled': { readonly because: DisabledBecause };
  /** A renewal could not be charged; the plan stays until the grace ends. */
  readonly 'payment-failed': {
    readonly plan: string;
    /** ISO 8601. */
    readonly graceEnds: string;
    /** Page of the payment provider; null where there is none. */
    readonly payUrl: string | null;
  };
  /** The plan has fallen back to free. */
  readonly 'subscription-ended': {
    /** The previous plan; null when it is not known. */
    readonly plan: string | null;
    readonly because: 'payment' | 'cancellation';
    /** Page where the amount owed can still be paid; null when it cannot. */
    readonly payUrl: string | null;
  };
  /** A second subscription of the customer was ended and refunded. */
  readonly 'duplicate-subscription': { readonly plan: string };
  /** So much of the period's renders is used. */
  readonly 'quota-alert': {
    readonly percent: number;
    readonly used: number;
    /** Renders of the plan, and of blocks. */
    readonly limit: number;
    /** ISO 8601, when the quota begins anew. */
    readonly renews: string;
    /** What happens beyond it. */
    readonly beyond: 'rejected' | 'bought';
    /** Whether the installation sells plans and blocks. */
    readonly sells: boolean;
  };
  /** So much of the cap of auto overage is spent. */
  readonly 'spend-alert': {
    readonly percent: number;
    readonly spentCents: number;
    readonly capCents: number;
  };
  /** Many renders of an hour have failed. */
  readonly 'failure-alert': {
    /** ISO 8601, the hour's beginning. */
    readonly hour: string;
    readonly renders: number;
    readonly failed: number;
    /** The commonest first. */
    readonly codes: readonly { readonly code: string; readonly count: number }[];
  };
  /** Nothing arrives at the address of callbacks. */
  readonly 'webhook-alert': {
    /** Without its query. */
    readonly url: string;
    /** ISO 8601, of the first failure in a row. */
    readonly since: string;
    readonly failures: number;
    /** What came of the last attempt, in words. */
    readonly outcome: string;
    /** ISO 8601; null when no further attempt is due. */
    readonly nextAt: string | null;
  };
  /** Callbacks arrive again at an address of which an alert was sent. */
  readonly 'webhook-recovered': { readonly url: string; readonly since: string; readonly at: string };
}

/** What people are alerted of; each can do without each kind. */
export type AlertKind = 'quota' | 'spend' | 'failures' | 'webhooks';

/** Whose mails of which alert a link in the mail ends. */
export interface Unsubscribe {
  readonly personId: string;
  readonly about: AlertKind;
}

export type MailKind = keyof MailValues;
export type DisabledBecause = 'link' | 'payment' | 'dispute' | 'subscription' | 'unproven';

/** A mail to be sent, of any kind. */
export type NewMail = {
  [Kind in MailKind]: {
    /** Identifies the mail: it is sent once, however often it is enqueued. */
    readonly id: string;
    readonly accountId: string;
    /** The recipient's address. */
    readonly to: string;
    readonly kind: Kind;
    readonly values: MailValues[Kind];
    /** Of alerts; absent in mails that nobody can do without. */
    readonly unsubscribe?: Unsubscribe;
  };
}[MailKind];

/** `waiting` until the mail server accepts the mail; `failed` when it was rejected or its last retry has failed. */
type MailState = 'waiting' | 'sent' | 'failed';

/** A mail in the outbox. */
export interface Mail extends Pick<NewMail, 'accountId' | 'to' | 'unsubscribe'>, Due {
  readonly content: Pick<NewMail, 'kind' | 'values'>;
  readonly state: MailState;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly endedAt?: Date;
  readonly error?: string;
}

/** A mail as it is sent to a mail server. */
export interface Letter {
  /** The same for every attempt, so that mail programs can recognise a copy. */
  readonly messageId: string;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Where mail programs end such mails with one request (RFC 8058); absent where that cannot be. */
  readonly unsubscribeUrl?: string;
}

/** Sends letters. @throws MailRejected when the letter will never be accepted; any other error may be temporary. */
export interface MailTransport {
  send(letter: Letter): Promise<void>;
  close(): void;
}

/** The mail server has rejected the letter permanently. */
export class MailRejected extends Error {}
