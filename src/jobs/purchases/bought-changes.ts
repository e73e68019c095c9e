import type { UnrecordedChange } from '../../audit/audit-log.ts';
import type { DisabledBecause } from '../../mail/mail.ts';
import type { LedgerRecord } from '../ledger/ledger-record.ts';
import { type Bought, type BoughtBlock, lapsedOf } from './bought-units.ts';

/*
 * What the audit log has of each change of what an account has bought. Each is written into the ledger by the update
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

/** Why a block stands otherwise, by what has become of it. */
export interface Causes {
  /** Details of what was taken back, beside its units; `cause` among them. */
  readonly taken: Readonly<Record<string, string>>;
  readonly frozen: string;
  readonly returned: string;
}

/**
 * A block stands otherwise than before: PDFs of it were taken back, or what is left cannot be used for now, or can be again.
 *
 * @param change.version of what is bought, from this change on.
 */
export function moved(
  blockId: string,
  change: {
    readonly before: BoughtBlock;
    readonly after: BoughtBlock;
    readonly version: number;
    readonly causes: Causes;
  },
  at: Date,
): UnrecordedChange[] {
  const { before, after, version, causes } = change;
  const { left, frozen = false, withdrawn = 0 } = after;
  const taken = withdrawn - (before.withdrawn ?? 0);
  const returned = left - (before.frozen === true ? 0 : before.left);
  const entry = (
    what: string,
    action: UnrecordedChange['action'],
    units: number,
    details: Readonly<Record<string, string>>,
  ): UnrecordedChange[] => {
    const id = `block:${blockId}:${what}:${version}`;
    // Of a block that is used up nothing changes but its name.
    return units > 0
      ? [{ id, action, targetId: blockId, details: { units: String(units), ...details }, at }]
      : [];
  };
  return [
    ...entry('taken', 'billing.block_taken_back', taken, causes.taken),
    ...(frozen
      ? entry('frozen', 'billing.block_frozen', before.frozen === true ? 0 : left, { cause: causes.frozen })
      : entry('usable', 'billing.block_returned', returned, { cause: causes.returned })),
  ];
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
