import type { DisabledBecause } from '../../../tenants/mail/mail.ts';

/** A purchase that is under way; it contains everything known about the purchase until that has a record of its own. */
export interface BlockPurchase {
  readonly blockId: string;
  readonly units: number;
  readonly priceCents: number;
  /** The billing period to which it is charged, and against whose cap it counts. */
  readonly cycle: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Purchases that an account lets the service make automatically. Amounts are in US cents. */
export interface Overage {
  /** The owner's setting. */
  readonly enabled: boolean;
  /** Whether the subscription allows it at present. */
  readonly allowed: boolean;
  readonly units: number;
  readonly priceCents: number;
  readonly capCents: number;
  readonly cycle: string;
  /** For blocks of this cycle that have not failed. */
  readonly spentCents: number;
  /** Absent while nothing is being bought; only one purchase runs at a time. */
  readonly purchase?: BlockPurchase;
  /** Auto overage was turned off, but not by the owner's setting, and the owner has not been notified. */
  readonly untold?: { readonly because: DisabledBecause /** Epoch milliseconds. */; readonly at: number };
}
