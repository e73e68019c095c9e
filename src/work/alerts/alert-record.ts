import type { Due } from '../../infra/store/due-queue.ts';
import type { AlertKind, NewMail } from '../../tenants/mail/mail.ts';

/** The part of the quota that was last alerted of. */
export interface QuotaAlerted {
  readonly period: string;
  /** Renders of the plan, and of blocks. */
  readonly limit: number;
  readonly used: number;
  /** In percent; 0 before the first alert. */
  readonly percent: number;
}

/** The part of the cap of auto overage that was last alerted of. */
export interface SpendAlerted {
  readonly cycle: string;
  readonly capCents: number;
  readonly spentCents: number;
  readonly percent: number;
}

/** The renders of an hour that have ended, without rejected and cancelled ones. */
export interface HourOfRenders {
  /** Its beginning. */
  readonly hour: Date;
  readonly renders: number;
  readonly failed: number;
  /** The commonest first, a few. */
  readonly codes: readonly { readonly code: string; readonly count: number }[];
}

export interface FailureAlerted {
  /** The hour in which too many have failed; absent once the account has recovered. */
  readonly now?: HourOfRenders;
  /** Whether people were told of that. */
  readonly told: boolean;
  readonly toldAt?: Date;
}

/** An address at which callbacks have failed since the last one that arrived. */
export interface FailingAddress {
  /** Without its query, at most `MAX_ADDRESS_CHARS` long. */
  readonly url: string;
  readonly since: Date;
  /** Attempts in a row. */
  readonly failures: number;
  readonly lastAt: Date;
  /** The status of the last response; null without one. */
  readonly status: number | null;
  /** Why the last attempt failed, in words. */
  readonly error: string | null;
  /** When the delivery of the last attempt is tried again; null when it was given up. */
  readonly nextAt: Date | null;
  readonly toldAt?: Date;
  /** When a callback arrived again after people were told. */
  readonly arrivedAt?: Date;
}

/** Something to tell. Its name says what it is about, so that nobody has two mails of it. */
export type Told = { readonly about: AlertKind; readonly name: string } & Pick<NewMail, 'kind' | 'values'>;

/** What is watched of an account: when to look at it, and what its people were told. */
export interface AlertRecord extends Due {
  /** The account. */
  readonly _id: string;
  /** Grows with every notice: a judgement counts only for the notices that it has read. */
  readonly revision?: number;
  /** When to look again whatever is found before: a notice stands for what follows until then. */
  readonly lookAt?: Date;
  /** When a render last failed. */
  readonly failedAt?: Date;
  readonly quota?: QuotaAlerted;
  readonly spend?: SpendAlerted;
  readonly failing?: FailureAlerted;
  /** By `addressKey`; at most `MAX_ADDRESSES` or a few more. */
  readonly webhooks?: Readonly<Record<string, FailingAddress>>;
  /** What the record says was told, and may not be in the outbox yet: written by the update that says so. */
  readonly untold?: readonly Told[];
  /** Alerts of a day (UTC), which are bounded. */
  readonly sent?: { readonly day: string; readonly count: number };
}

/** Failing addresses of an account that are watched at a time. */
export const MAX_ADDRESSES = 20;
export const MAX_ADDRESS_CHARS = 500;
