/** A phase of a subscription that is planned to begin by itself. */
export interface PhaseSnapshot {
  readonly startsAt: Date;
  /** The plan that the metadata of its price names; undefined when it names none. */
  readonly plan: string | undefined;
}

export interface ScheduleSnapshot {
  readonly id: string;
  readonly status: string;
  /** In their order; the first is the one at work when the schedule was made. */
  readonly phases: readonly PhaseSnapshot[];
  /** Set while it changes nothing, since it was made and was never told what is to come. */
  readonly halfMadeSince?: Date;
}

/** A subscription as the provider tells it, in our own terms. Amounts are cents. */
export interface SubscriptionSnapshot {
  readonly id: string;
  /** Any word: the provider may know states that we do not. */
  readonly status: string;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
  /** It has ended since it could not be charged. */
  readonly endedUnpaid?: boolean;
  readonly cancelAt: Date | null;
  readonly cancelAtPeriodEnd: boolean;
  /** The collection of payments is paused, which is not the status `paused`. */
  readonly collectionPaused: boolean;
  readonly itemId: string | null;
  readonly priceId: string | null;
  /** The plan that the metadata of its price names; undefined when it names none. */
  readonly plan: string | undefined;
  /** Of its item; null when it has none. */
  readonly period: Period | null;
  readonly schedule: ScheduleSnapshot | null;
  /** A change of its plan that waits for its payment; only of one that was asked for with its last invoice. */
  readonly waiting?: WaitingChange;
}

export interface WaitingChange {
  readonly priceId: string | undefined;
  readonly invoiceId: string;
  /** Where the customer pays. */
  readonly url: string | undefined;
}

export interface Period {
  readonly start: Date;
  readonly end: Date;
}

export interface InvoiceSnapshot {
  readonly id: string;
  readonly number: string | null;
  readonly status: string;
  readonly currency: string;
  readonly amountDueCents: number;
  readonly amountPaidCents: number;
  readonly createdAt: Date;
  readonly hostedInvoiceUrl: string | null;
  readonly pdfUrl: string | null;
  readonly subscriptionId: string | null;
  /** The block that it was made for, if it was. */
  readonly blockId: string | null;
  /** What its line for the subscription itself pays for; null when it has only prorations or other things. */
  readonly subscriptionPeriod: Period | null;
}

/** Everything about a customer that decides what they have. */
export interface CustomerSnapshot {
  readonly customerId: string;
  readonly deleted: boolean;
  readonly subscriptions: readonly SubscriptionSnapshot[];
  /** The newest hundred, in a row. */
  readonly invoices: readonly InvoiceSnapshot[];
  /** Of those before them, the ones that still decide something; absent when there are none before them. */
  readonly older?: readonly InvoiceSnapshot[];
}

/** Every invoice that is known to decide something. */
export function decidingInvoices({ invoices, older = [] }: CustomerSnapshot): readonly InvoiceSnapshot[] {
  return [...invoices, ...older];
}
