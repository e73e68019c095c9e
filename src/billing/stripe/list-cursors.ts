import type { Connection } from 'mongoose';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';

/** Both bounds are inclusive; an absent bound leaves that end open. */
export interface Range {
  readonly from?: Date | undefined;
  readonly until?: Date | undefined;
}

/** How far a list at the provider that grows at its newer end has been read. */
export interface Known {
  /** Everything made until then has been read; absent as long as the oldest has not been reached. */
  readonly completeTo?: Date;
  /** Everything from `until` to `seenTo` has been read as well; what is older, down to `completeTo`, has not. */
  readonly gap?: { readonly until: Date; readonly seenTo: Date };
}

/** Where a round stands through a list that is read repeatedly. */
export interface Round {
  /** Everything made after that time has been checked in this round. */
  readonly until: Date;
  /** An event has come since the round began: another round follows. */
  readonly again: boolean;
}

interface ListCursor extends Known {
  /** Names the list. */
  readonly _id: string;
  readonly round?: Round;
  /** Of a list whose items are checked one by one, the last one checked. */
  readonly lookedAt?: string;
}

interface Pass<T, K> {
  readonly items: readonly T[];
  /** To be stored once the items are processed; undefined when nothing need be known. */
  readonly known: K;
  /** False when there is more for the next pass. */
  readonly complete: boolean;
}

/** Reads at most `most` items of a range, the newest first. */
type ReadList<T> = (range: Range, most: number) => Promise<readonly T[]>;
type MadeAt<T> = (item: T) => Date;

const cursorSpec: CollectionSpec = {
  name: 'billing_list_cursors',
  account: { none: 'how far lists of the provider are read' },
};
const SECOND_MS = 1000;

/** Owns how far the provider's lists have been read, so that the next pass continues there. */
export class ListCursors {
  readonly #cursors: Collection<ListCursor>;

  /** To be created before the connection's indexes. */
  constructor(connection: Connection) {
    this.#cursors = new Collection(connection, cursorSpec);
  }

  async find(list: string): Promise<Omit<ListCursor, '_id'>> {
    return (await this.#cursors.findById(list)) ?? {};
  }

  /** Any order of writes is safe: an older state only causes more to be read again. */
  async keep(list: string, { completeTo, gap }: Known): Promise<void> {
    await this.#set(list, { completeTo, gap });
  }

  async keepRound(list: string, round: Round | undefined): Promise<void> {
    await this.#set(list, { round });
  }

  async keepCheckedAt(list: string, checkedAt: string): Promise<void> {
    await this.#set(list, { lookedAt: checkedAt });
  }

  async #set(list: string, fields: Record<string, unknown>): Promise<void> {
    const $set: Record<string, unknown> = {};
    const $unset: Record<string, ''> = {};
    for (const [name, value] of Object.entries(fields)) {
      if (value === undefined) $unset[name] = '';
      else $set[name] = value;
    }
    await this.#cursors.upsert(list, { $set, $unset });
  }
}

/** What is new since the last pass, then what earlier ones left. @param bound of either part. */
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
  // The newest second is read anew each time: if a full page comes from it alone, nothing is new.
  const missed = seenTo.getTime() === before?.getTime() ? undefined : endOf(fresh, bound, madeAt);
  // A gap that earlier passes left is part of this one.
  if (missed !== undefined)
    return { items: fresh, known: { ...complete, gap: { until: missed, seenTo } }, complete: false };
  const rest = gap === undefined ? [] : await read({ from: completeTo, until: gap.until }, bound);
  const items = [...fresh, ...rest];
  const until = endOf(rest, bound, madeAt, gap?.until);
  if (until === undefined) return { items, known: { completeTo: seenTo }, complete: true };
  return { items, known: { ...complete, gap: { until, seenTo } }, complete: false };
}

/** Goes round a list. @param news whether an event has come since the last pass: what was checked is checked again. */
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

/** The time up to which the next pass reads; undefined when nothing is left. */
function endOf<T>(items: readonly T[], bound: number, madeAt: MadeAt<T>, start?: Date): Date | undefined {
  const last = items.at(-1);
  if (last === undefined || items.length < bound) return undefined;
  const end = madeAt(last);
  // One second has more items than a pass reads: the round continues without the rest of that second.
  return end.getTime() === start?.getTime() ? new Date(end.getTime() - SECOND_MS) : end;
}
