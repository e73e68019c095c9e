import type { UnrecordedChange } from '../../../tenants/audit/audit-log.ts';
import type { DisabledBecause } from '../../../tenants/mail/mail.ts';
import { type BlockBalance, expiredOf, type LedgerBlock } from '../ledger/block-balance.ts';
import type { LedgerRecord } from '../ledger/ledger-record.ts';

/*
 * The audit entries for changes of what an account has bought. The update that makes a change also writes its entry
 * into the ledger. The entry's id is derived from the cause of the change.
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

/** Units of expired blocks that have not been recorded as lost before. */
export function expired(
  blockBalance: BlockBalance | undefined,
  used: LedgerRecord['quota'],
  at: Date,
): UnrecordedChange[] {
  if (blockBalance === undefined) return [];
  return [...expiredOf(blockBalance, used, at.getTime())].map(([blockId, units]) => ({
    id: `block:${blockId}:expired`,
    action: 'billing.block_expired',
    targetId: blockId,
    details: { units: String(units), cause: 'its time is over' },
    at,
  }));
}

/** The causes of a change of a block, by its kind. */
export interface Causes {
  /** Details for units that were taken back, including `cause`; the units themselves are added. */
  readonly taken: Readonly<Record<string, string>>;
  readonly frozen: string;
  readonly returned: string;
}

/**
 * A block has changed: PDFs of it were taken back, or the remaining ones were frozen or became usable again.
 *
 * @param change.version the version of `blockBalance` with this change.
 */
export function moved(
  blockId: string,
  change: {
    readonly before: LedgerBlock;
    readonly after: LedgerBlock;
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
    // A change of a used-up block affects no units.
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

/** Auto overage was turned on or off, but not by the owner's setting. @param id identifies the cause. */
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
