/** Amounts of money are US cents. */
export interface MailValues {
  /** Auto overage has bought a block. */
  readonly 'overage-purchased': {
    readonly units: number;
    readonly amountCents: number;
    /** Bought in this billing period so far, and the most that may be. */
    readonly spentCents: number;
    readonly capCents: number;
  };
  /** A block that was bought by hand is paid. */
  readonly 'overage-bought': { readonly units: number; readonly amountCents: number };
  /** A block could not be paid; auto overage is off. */
  readonly 'overage-failed': { readonly units: number; readonly amountCents: number };
  /** The bank wants to see the customer before a block is paid. */
  readonly 'overage-action-required': {
    readonly units: number;
    readonly amountCents: number;
    /** Page of the payment provider. */
    readonly payUrl: string;
    /** ISO 8601; the purchase is given up then. */
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
    /** The plan that it was; null when that is not known. */
    readonly plan: string | null;
    readonly because: 'payment' | 'cancellation';
    /** Where what is owed can still be paid; null where it cannot. */
    readonly payUrl: string | null;
  };
  /** A second subscription of the customer was ended and paid back. */
  readonly 'duplicate-subscription': { readonly plan: string };
}

export type MailKind = keyof MailValues;
export type DisabledBecause = 'link' | 'payment' | 'dispute' | 'subscription' | 'unproven';

/** A mail that is to be sent, whatever its kind. */
export type NewMail = {
  [Kind in MailKind]: {
    /** Names the mail for good: it is sent once, however often it is put in. */
    readonly id: string;
    readonly accountId: string;
    /** The address it goes to. */
    readonly to: string;
    readonly kind: Kind;
    readonly values: MailValues[Kind];
  };
}[MailKind];

/** `waiting` until it is taken by the mail server; `failed` when it was refused for good, or for too long. */
export type MailState = 'waiting' | 'sent' | 'failed';

/** A mail in the outbox. */
export interface Mail extends Pick<NewMail, 'accountId' | 'to'> {
  readonly _id: string;
  readonly content: Pick<NewMail, 'kind' | 'values'>;
  readonly state: MailState;
  /** When it is to be sent; absent when it is over. */
  readonly due?: Date;
  readonly attempts: number;
  /** Raised by every change: what somebody else has changed meanwhile is not written over. */
  readonly version: number;
  readonly createdAt: Date;
  readonly endedAt?: Date;
  readonly error?: string;
}

/** A mail as it is handed to a mail server. */
export interface Letter {
  /** The same for every attempt, so that a copy can be told from a second mail. */
  readonly messageId: string;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Hands letters over. @throws MailRefused when the letter will never be taken; any other error may pass. */
export interface MailTransport {
  send(letter: Letter): Promise<void>;
  close(): void;
}

/** The letter was refused for good. */
export class MailRefused extends Error {}
