import type { Period } from '../../usage/quota-period.ts';

/** PDFs used, by period. */
type Used = Readonly<Record<string, number>> | undefined;

/** PDFs of a block that was bought beyond the quota. */
export interface BoughtBlock {
  /** What was left of it when the present period began to be counted. */
  readonly left: number;
  /** Epoch milliseconds: what is left then is lost. */
  readonly until: number;
  /** A dispute: it cannot be used, and is not lost. */
  readonly frozen?: boolean;
  /** A refund has taken these PDFs back, of those that were left: they return if it fails. */
  readonly withdrawn?: number;
}

/** How a block stands by its payment. */
export interface Standing {
  /** It cannot be used for now. */
  readonly frozen: boolean;
  /** PDFs of the whole block that are to be taken back, as far as they are left. */
  readonly back: number;
}

/**
 * What is bought, and from which period's use it is taken. Nothing is written here while blocks are used: what a period
 * has used beyond its quota comes from the blocks, those that end first before the others.
 */
export interface Bought {
  /** Grows with every change. */
  readonly version: number;
  readonly period: Period;
  /** The quota of that period without blocks. */
  readonly quota: number;
  /** By period: what has been taken off `left` for it already. */
  readonly taken?: Readonly<Record<string, number>>;
  readonly blocks: Readonly<Record<string, BoughtBlock>>;
}

/** A block that is used up or over is still known for this long, so that it is not granted anew. */
const REMEMBERED_MS = 90 * 24 * 3_600_000;

/**
 * Takes off the blocks what the period that was counted has used of them, and counts for another one from here on.
 *
 * @param to the period, and its quota without blocks.
 * @param now epoch milliseconds.
 */
export function countedFor(
  bought: Bought,
  used: Used,
  to: { readonly period: Period; readonly quota: number },
  now: number,
): Bought {
  const { period, taken = {}, version } = bought;
  const overflow = overflowOf(bought, used);
  const blocks = takenOff(bought, overflow - (taken[period] ?? 0));
  const kept = Object.entries(blocks)
    .filter(([, { until }]) => until + REMEMBERED_MS > now)
    // What is over is lost: it must not bear what is used from here on.
    .map(([id, block]) => [id, block.until > now ? block : withoutRest(block)] as const);
  const before = { [to.period]: taken[to.period] ?? 0, [period]: overflow };
  // What was used under a larger quota is not taken off the blocks now that there is a smaller one.
  const start = overflowOf({ ...to, taken: before }, used);
  return {
    version: version + 1,
    period: to.period,
    quota: to.quota,
    taken: { ...before, [to.period]: start },
    blocks: Object.fromEntries(kept),
  };
}

/** PDFs of the blocks that are left for the period that is counted, besides what is left of its quota. */
export function leftOf(bought: Bought, used: Used, now: number): number {
  const rest = takenOff(bought, overflowOf(bought, used) - (bought.taken?.[bought.period] ?? 0));
  return Object.values(rest)
    .filter(({ until, frozen }) => until > now && frozen !== true)
    .reduce((sum, { left }) => sum + left, 0);
}

/**
 * What may be used in a period with all that was bought, by a record that counts for it.
 *
 * @param quota of the period without blocks.
 */
export function limitWith(
  record: { readonly bought?: Bought; readonly quota?: Used } | undefined,
  period: Period,
  quota: number,
  now: Date,
): number {
  const bought = record?.bought;
  if (bought === undefined) return quota;
  return Math.max(quota, record?.quota?.[period] ?? 0) + leftOf(bought, record?.quota, now.getTime());
}

/** By block: PDFs that are lost with its time, and were not counted as lost before. */
export function lapsedOf(bought: Bought, used: Used, now: number): ReadonlyMap<string, number> {
  const rest = takenOff(bought, overflowOf(bought, used) - (bought.taken?.[bought.period] ?? 0));
  const over = Object.entries(rest).filter(([, { until, left }]) => until <= now && left > 0);
  return new Map(over.map(([id, { left }]) => [id, left]));
}

/** The same block, standing otherwise: nothing of what is left of it is lost on the way. */
export function withStanding(
  { left, until, withdrawn = 0 }: BoughtBlock,
  { frozen, back }: Standing,
): BoughtBlock {
  const rest = left + withdrawn;
  const taken = Math.min(back, rest);
  return {
    left: rest - taken,
    until,
    ...(frozen && { frozen }),
    ...(taken > 0 && { withdrawn: taken }),
  };
}

/** Whether two states of a block differ by nothing that can be used, or come back. */
export function standsAlike(a: BoughtBlock, b: BoughtBlock): boolean {
  return (
    a.left === b.left &&
    (a.withdrawn ?? 0) === (b.withdrawn ?? 0) &&
    (a.frozen ?? false) === (b.frozen ?? false)
  );
}

/** The same block, standing as it does, with nothing that could be used, or come back. */
function withoutRest({ withdrawn, ...block }: BoughtBlock): BoughtBlock {
  return { ...block, left: 0, ...(withdrawn !== undefined && { withdrawn: 0 }) };
}

function overflowOf(
  { period, quota, taken }: Pick<Bought, 'period' | 'quota' | 'taken'>,
  used: Used,
): number {
  return Math.max((used?.[period] ?? 0) - quota, taken?.[period] ?? 0, 0);
}

function takenOff({ blocks }: Bought, amount: number): Record<string, BoughtBlock> {
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
