import type { UnrecordedChange } from '../../audit/audit-log.ts';
import type { DisabledBecause } from '../../mail/mail.ts';
import { type Bought, lapsedOf, type Standing } from './bought-units.ts';
import type { LedgerRecord } from './ledger-record.ts';

/*
 * What is said in the audit log of each change of what an account has bought. Each is written into the ledger by the update
 * that makes the change, and named by what caused it.
 */

export function granted(
  blockId: string,
  { units, until, cause }: { readonly units: number; readonly until: number; readonly cause: string },
  at: Date,
): UnrecordedChange {
  return {
    id: `block:${blockId}:granted`,
    action: 'billing.block_granted',
    targetId: blockId,
    details: { units: String(units), until: new Date(until).toISOString(), cause },
    at,
  };
}

/** What is lost with the time of blocks, and was not counted as lost before. */
export function expired(
  bought: Bought | undefined,
  used: LedgerRecord['quota'],
  at: Date,
): UnrecordedChange[] {
  if (bought === undefined) return [];
  return [...lapsedOf(bought, used, at.getTime())].map(([blockId, units]) => ({
    id: `block:${blockId}:expired`,
    action: 'billing.block_expired',
    targetId: blockId,
    details: { units: String(units), cause: 'its time is over' },
    at,
  }));
}

const ACTIONS = {
  usable: 'billing.block_returned',
  frozen: 'billing.block_frozen',
  taken: 'billing.block_taken_back',
} as const satisfies Readonly<Record<Standing, UnrecordedChange['action']>>;

/**
 * A block stands otherwise than before.
 *
 * @param change.units that can be used now, or cannot any more.
 * @param change.version of what is bought, from this change on.
 */
export function moved(
  blockId: string,
  change: {
    readonly standing: Standing;
    readonly units: number;
    readonly version: number;
    readonly cause: string;
  },
  at: Date,
): UnrecordedChange {
  const { standing, units, version, cause } = change;
  return {
    id: `block:${blockId}:${standing}:${version}`,
    action: ACTIONS[standing],
    targetId: blockId,
    details: { units: String(units), cause },
    at,
  };
}

/**
 * Auto overage was turned on or off by something else than the owner's setting.
 *
 * @param id of what has caused it.
 */
export function autoOverage(
  id: string,
  enabled: boolean,
  cause: DisabledBecause,
  at: Date,
): UnrecordedChange {
  return {
    id: `auto-overage:${id}`,
    action: 'billing.auto_overage_changed',
    details: { enabled: String(enabled), cause },
    at,
  };
}
