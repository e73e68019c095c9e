/** A phase of a subscription that is planned to begin by itself. */
interface PhaseSnapshot {
  readonly startsAt: Date;
  /** The plan that the metadata of its price names; undefined when it names none. */
  readonly plan: string | undefined;
}

export interface ScheduleSnapshot {
  readonly id: string;
  readonly status: string;
  /** In their order; the first is the one that was in force when the schedule was made. */
  readonly phases: readonly PhaseSnapshot[];
  /** Set while the schedule changes nothing, because its next phase was never added. */
  readonly halfMadeSince?: Date;
}

/** A subscription in our own terms, from what the provider says. Amounts are cents. */
export interface SubscriptionSnapshot {
  readonly id: string;
  /** Any word: the provider may have statuses that are not known here. */
  readonly status: string;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
  /** The subscription ended because it could not be charged. */
  readonly endedUnpaid?: boolean;
  readonly cancelAt: Date | null;
  readonly cancelAtPeriodEnd: boolean;
  /** The collection of payments is paused, which is not the status `paused`. */
  readonly collectionPaused: boolean;
  readonly itemId: string | null;
  readonly priceId: string | null;
  /** The plan that the metadata of its price names; undefined when it names none. */
  readonly plan: string | undefined;
  /** The period of its item; null without an item. */
  readonly period: Period | null;
  readonly schedule: ScheduleSnapshot | null;
  /** A change of plan that waits for its payment; read only if the last invoice was requested along. */
  readonly waiting?: WaitingChange;
}

interface WaitingChange {
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
  readonly blockId: string | null;
  /** The period that its line for the subscription itself covers; null when it has only prorations or other things. */
  readonly subscriptionPeriod: Period | null;
}

/** Everything about a customer that decides what they have. */
export interface CustomerSnapshot {
  readonly customerId: string;
  readonly deleted: boolean;
  readonly subscriptions: readonly SubscriptionSnapshot[];
  /** The newest hundred, in a row. */
  readonly invoices: readonly InvoiceSnapshot[];
  /** Older invoices that still decide something; absent when there are no older ones. */
  readonly older?: readonly InvoiceSnapshot[];
}

/** Every invoice that is known to decide something. */
export function decidingInvoices({ invoices, older = [] }: CustomerSnapshot): readonly InvoiceSnapshot[] {
  return [...invoices, ...older];
}
