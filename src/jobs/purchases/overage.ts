import type { DisabledBecause } from '../../mail/mail.ts';

/** A purchase that is under way: all that is known of it until its own record is made. */
export interface Gate {
  readonly blockId: string;
  readonly units: number;
  readonly priceCents: number;
  /** The billing period that it is charged to, and counted in against the cap. */
  readonly cycle: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** What an account lets the service buy by itself. Amounts are US cents. */
export interface Overage {
  /** As the owner has set it. */
  readonly enabled: boolean;
  /** Whether its subscription allows it at present. */
  readonly allowed: boolean;
  readonly units: number;
  readonly priceCents: number;
  readonly capCents: number;
  readonly cycle: string;
  /** By blocks of this cycle that have not failed. */
  readonly spentCents: number;
  /** Absent while nothing is being bought: one purchase at a time. */
  readonly gate?: Gate;
  /** It was turned off by something else than the owner's own setting, and the owner has not been notified. */
  readonly untold?: { readonly because: DisabledBecause /** Epoch milliseconds. */; readonly at: number };
}
