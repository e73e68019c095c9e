import type { Connection } from 'mongoose';
import { Collection, type CollectionSpec } from '../store/collection.ts';

/** Both ends belong to it; open where there is none. */
export interface Range {
  readonly from?: Date | undefined;
  readonly until?: Date | undefined;
}

/** How far a list at the provider has been read that grows at its newer end. */
export interface Known {
  /** What was made until then has been read; absent as long as the oldest has not been reached. */
  readonly completeTo?: Date;
  /** Everything from `until` to `seenTo` has been read as well; what is before, down to `completeTo`, has not. */
  readonly gap?: { readonly until: Date; readonly seenTo: Date };
}

/** Where a round through a list stands that is read again and again. */
export interface Round {
  /** What was made after that has been looked at in this round. */
  readonly until: Date;
  /** Something has been heard of since the round began: another one follows. */
  readonly again: boolean;
}

interface Reading extends Known {
  /** Names the list. */
  readonly _id: string;
  readonly round?: Round;
  /** Of those that are looked at one by one, the last that was. */
  readonly lookedAt?: string;
}

/** What one pass has read. */
export interface Pass<T, K> {
  readonly items: readonly T[];
  /** To be kept once something was made of the items; undefined when nothing need be known. */
  readonly known: K;
  /** False when there is more for the next pass. */
  readonly complete: boolean;
}

/** Reads the newest of a range, at most so many, the newest first. */
export type ReadList<T> = (range: Range, most: number) => Promise<readonly T[]>;
type MadeAt<T> = (item: T) => Date;

const READINGS: CollectionSpec = { name: 'billing_readings' };
const SECOND_MS = 1000;

/** Owns how far the provider's lists have been read, so that whoever comes next carries on there. */
export class Readings {
  readonly #readings: Collection<Reading>;

  /** To be made before the connection's indexes are. */
  constructor(connection: Connection) {
    this.#readings = new Collection(connection, READINGS);
  }

  async find(list: string): Promise<Omit<Reading, '_id'>> {
    return (await this.#readings.findById(list)) ?? {};
  }

  /** What is kept is true whenever it is kept, and by whomever: an older state only has more read again. */
  async keep(list: string, { completeTo, gap }: Known): Promise<void> {
    await this.#set(list, { completeTo, gap });
  }

  async keepRound(list: string, round: Round | undefined): Promise<void> {
    await this.#set(list, { round });
  }

  async keepLookedAt(list: string, lookedAt: string): Promise<void> {
    await this.#set(list, { lookedAt });
  }

  async #set(list: string, fields: Record<string, unknown>): Promise<void> {
    const $set: Record<string, unknown> = {};
    const $unset: Record<string, ''> = {};
    for (const [name, value] of Object.entries(fields)) {
      if (value === undefined) $unset[name] = '';
      else $set[name] = value;
    }
    await this.#readings.upsert(list, { $set, $unset });
  }
}

/**
 * Reads what has come since the last pass, and goes on with what passes before have left.
 *
 * @param bound of either: a pass reads twice as many at most.
 */
export async function readOn<T>(
  { completeTo, gap }: Known,
  bound: number,
  read: ReadList<T>,
  madeAt: MadeAt<T>,
): Promise<Pass<T, Known>> {
  const before = gap?.seenTo ?? completeTo;
  const fresh = await read({ from: before }, bound);
  const [newest] = fresh;
  const seenTo = newest === undefined ? before : madeAt(newest);
  if (seenTo === undefined) return { items: fresh, known: {}, complete: true };
  const complete = completeTo && { completeTo };
  // The newest second is read anew each time: a crowd of it alone is nothing new.
  const left = seenTo.getTime() === before?.getTime() ? undefined : endOf(fresh, bound, madeAt);
  // A gap of passes before is part of this one.
  if (left !== undefined)
    return { items: fresh, known: { ...complete, gap: { until: left, seenTo } }, complete: false };
  const rest = gap === undefined ? [] : await read({ from: completeTo, until: gap.until }, bound);
  const items = [...fresh, ...rest];
  const until = endOf(rest, bound, madeAt, gap?.until);
  if (until === undefined) return { items, known: { completeTo: seenTo }, complete: true };
  return { items, known: { ...complete, gap: { until, seenTo } }, complete: false };
}

/**
 * Reads on in a round through all of a list.
 *
 * @param news whether something was heard of the list since the pass before: what was looked at by then is looked at again.
 */
export async function readRound<T>(
  round: Round | undefined,
  { from, bound, news }: { readonly from: Date; readonly bound: number; readonly news: boolean },
  read: ReadList<T>,
  madeAt: MadeAt<T>,
): Promise<Pass<T, Round | undefined>> {
  const items = await read({ from, until: round?.until }, bound);
  const again = round !== undefined && (round.again || news);
  const until = endOf(items, bound, madeAt, round?.until);
  if (until !== undefined) return { items, known: { until, again }, complete: false };
  return { items, known: undefined, complete: !again };
}

/** Up to where the next pass reads; undefined when there is nothing left. */
function endOf<T>(items: readonly T[], bound: number, madeAt: MadeAt<T>, start?: Date): Date | undefined {
  const last = items.at(-1);
  if (last === undefined || items.length < bound) return undefined;
  const end = madeAt(last);
  // More of one second than a pass reads: it goes on all the same, without the rest of that second.
  return end.getTime() === start?.getTime() ? new Date(end.getTime() - SECOND_MS) : end;
}
