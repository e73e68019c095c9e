import type { mongo } from 'mongoose';

/** The place of a record in a list that is sorted by one field, and by ids where values are the same. */
export interface KeysetPosition {
  readonly value: Date | string;
  readonly id: string;
}

/** A page of such a list: the records after a position. Its cost does not depend on how far down the list it is. */
export interface KeysetPage {
  /** Absent for the first page. */
  readonly after?: KeysetPosition | undefined;
  readonly limit: number;
}

/** Bounds of the sorted field: at or after `from`, and before `to`. */
interface KeysetBounds {
  readonly from?: Date | string | undefined;
  readonly to?: Date | string | undefined;
}

/**
 * The filter for a page of a list that is sorted by a field and the id, both in one direction. The field needs an index
 * (`{ field: 1, _id: 1 }`), and the collection `$or` in `filtersBy`: it leaves out records of one value alone.
 */
export function beyond<T>(
  field: string,
  { after }: Pick<KeysetPage, 'after'>,
  { from, to, ascending = false }: KeysetBounds & { readonly ascending?: boolean } = {},
): mongo.Filter<T> {
  const range: Record<string, unknown> = {};
  if (from !== undefined) range.$gte = from;
  if (to !== undefined) range.$lt = to;
  if (after === undefined)
    return (Object.keys(range).length > 0 ? { [field]: range } : {}) as mongo.Filter<T>;
  const [inclusive, exclusive] = ascending ? ['$gte', '$gt'] : ['$lte', '$lt'];
  range[inclusive!] = after.value;
  return {
    [field]: range,
    $or: [{ [field]: { [exclusive!]: after.value } }, { _id: { [exclusive!]: after.id } }],
  } as mongo.Filter<T>;
}
