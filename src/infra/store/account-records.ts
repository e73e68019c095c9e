import type { Connection, mongo } from 'mongoose';
import { Collection } from './collection.ts';
import { type CollectionSpec, declaredCollections } from './collection-spec.ts';

/** Records that one statement deletes. */
const PAGE = 500;

interface Found {
  readonly _id: string;
}

/**
 * Deletes the records of an account from every collection that is declared over the connection, except those that a
 * step of the deletion deletes. Repeated, it deletes what has been added since.
 */
export async function deleteRecordsOf(connection: Connection, accountId: string): Promise<void> {
  for (const spec of declaredCollections(connection)) {
    const records = new Collection<Found>(connection, spec);
    for (const filter of filtersOf(spec, accountId)) {
      for (;;) {
        const page = await records.find(filter, { projection: { _id: 1 }, limit: PAGE });
        if (page.length > 0) await records.deleteMany({ _id: { $in: page.map(({ _id }) => _id) } });
        if (page.length < PAGE) break;
      }
    }
  }
}

function filtersOf({ account, alsoOf }: CollectionSpec, accountId: string): mongo.Filter<Found>[] {
  const also = alsoOf === undefined ? [] : [{ [alsoOf]: accountId } as mongo.Filter<Found>];
  switch (account) {
    case 'accountId':
      return [{ accountId } as mongo.Filter<Found>, ...also];
    case '_id':
      return [{ _id: accountId }, ...also];
    case 'prefix':
      // `;` is the character after `:`.
      return [{ _id: { $gte: `${accountId}:`, $lt: `${accountId};` } }, ...also];
    default:
      return also;
  }
}
