import type { Period } from '../../../tenants/plans/quota-period.ts';

/** PDFs used, by period. */
type Used = Readonly<Record<string, number>> | undefined;

/** PDFs of a block that was bought beyond the quota. */
export interface LedgerBlock {
  /** PDFs that were left when counting for the present period began. */
  readonly left: number;
  /** Epoch milliseconds; PDFs that are left then expire. */
  readonly until: number;
  /** Disputed: the PDFs cannot be used, and do not expire. */
  readonly frozen?: boolean;
  /** Left PDFs that a refund has taken back; they return if the refund fails. */
  readonly withdrawn?: number;
}

/** The state of a block by its payment. */
export interface Standing {
  /** Its PDFs cannot be used at the moment. */
  readonly frozen: boolean;
  /** PDFs of the whole block to take back, as far as they are left. */
  readonly back: number;
}

/**
 * The bought blocks, and the period whose use is taken from them. Nothing is written here while blocks are used: the
 * use of a period beyond its quota is taken from the blocks, the ones that expire first before the others.
 */
export interface BlockBalance {
  /** Grows with every change. */
  readonly version: number;
  readonly period: Period;
  /** The quota of that period without blocks. */
  readonly quota: number;
  /** By period: PDFs that are already subtracted from `left`. */
  readonly taken?: Readonly<Record<string, number>>;
  readonly blocks: Readonly<Record<string, LedgerBlock>>;
}

/** How long a used-up or expired block is kept, so that it cannot be granted again, in milliseconds. */
const REMEMBERED_MS = 90 * 24 * 3_600_000;

/**
 * Subtracts the use of the counted period from the blocks, and continues to count for another period.
 *
 * @param to the new period, and its quota without blocks.
 * @param now epoch milliseconds.
 */
export function countedFor(
  blockBalance: BlockBalance,
  used: Used,
  to: { readonly period: Period; readonly quota: number },
  now: number,
): BlockBalance {
  const { period, taken = {}, version } = blockBalance;
  const overflow = overflowOf(blockBalance, used);
  const blocks = takenOff(blockBalance, overflow - (taken[period] ?? 0));
  const kept = Object.entries(blocks)
    .filter(([, { until }]) => until + REMEMBERED_MS > now)
    // PDFs of expired blocks are lost: later use must not be taken from them.
    .map(([id, block]) => [id, block.until > now ? block : withoutRest(block)] as const);
  const before = { [to.period]: taken[to.period] ?? 0, [period]: overflow };
  // Use that a larger quota has covered is not taken from the blocks when the quota becomes smaller.
  const start = overflowOf({ ...to, taken: before }, used);
  return {
    version: version + 1,
    period: to.period,
    quota: to.quota,
    taken: { ...before, [to.period]: start },
    blocks: Object.fromEntries(kept),
  };
}

/** PDFs of blocks that are left for the counted period, in addition to the rest of its quota. */
export function leftOf(blockBalance: BlockBalance, used: Used, now: number): number {
  const rest = takenOff(
    blockBalance,
    overflowOf(blockBalance, used) - (blockBalance.taken?.[blockBalance.period] ?? 0),
  );
  return Object.values(rest)
    .filter(({ until, frozen }) => until > now && frozen !== true)
    .reduce((sum, { left }) => sum + left, 0);
}

/** PDFs that may be used in a period, by a record of that period. @param quota of the period without blocks. */
export function limitWith(
  record: { readonly blockBalance?: BlockBalance; readonly quota?: Used } | undefined,
  period: Period,
  quota: number,
  now: Date,
): number {
  const blockBalance = record?.blockBalance;
  if (blockBalance === undefined) return quota;
  return Math.max(quota, record?.quota?.[period] ?? 0) + leftOf(blockBalance, record?.quota, now.getTime());
}

/** PDFs of each expired block that have not been recorded as lost before. */
export function expiredOf(blockBalance: BlockBalance, used: Used, now: number): ReadonlyMap<string, number> {
  const rest = takenOff(
    blockBalance,
    overflowOf(blockBalance, used) - (blockBalance.taken?.[blockBalance.period] ?? 0),
  );
  const over = Object.entries(rest).filter(([, { until, left }]) => until <= now && left > 0);
  return new Map(over.map(([id, { left }]) => [id, left]));
}

/** The same block in another state; its remaining PDFs are kept. */
export function withStanding(
  { left, until, withdrawn = 0 }: LedgerBlock,
  { frozen, back }: Standing,
): LedgerBlock {
  const rest = left + withdrawn;
  const taken = Math.min(back, rest);
  return {
    left: rest - taken,
    until,
    ...(frozen && { frozen }),
    ...(taken > 0 && { withdrawn: taken }),
  };
}

/** Whether two states of a block have the same usable and returnable PDFs. */
export function standsAlike(a: LedgerBlock, b: LedgerBlock): boolean {
  return (
    a.left === b.left &&
    (a.withdrawn ?? 0) === (b.withdrawn ?? 0) &&
    (a.frozen ?? false) === (b.frozen ?? false)
  );
}

/** The same block without PDFs that could be used or return. */
function withoutRest({ withdrawn, ...block }: LedgerBlock): LedgerBlock {
  return { ...block, left: 0, ...(withdrawn !== undefined && { withdrawn: 0 }) };
}

function overflowOf(
  { period, quota, taken }: Pick<BlockBalance, 'period' | 'quota' | 'taken'>,
  used: Used,
): number {
  return Math.max((used?.[period] ?? 0) - quota, taken?.[period] ?? 0, 0);
}

function takenOff({ blocks }: BlockBalance, amount: number): Record<string, LedgerBlock> {
  let rest = amount;
  const order = Object.entries(blocks).sort(
    ([a, { until: x }], [b, { until: y }]) => x - y || (a < b ? -1 : 1),
  );
  return Object.fromEntries(
    order.map(([id, block]) => {
      const taken = block.frozen === true ? 0 : Math.max(0, Math.min(rest, block.left));
      rest -= taken;
      return [id, { ...block, left: block.left - taken }];
    }),
  );
}
