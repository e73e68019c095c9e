import type { Connection } from 'mongoose';
import { Collection, type CollectionSpec } from '../store/collection.ts';

/** Says when a batch is to be looked at. Whether it is really its time then is for the batch itself to say. */
export interface AgendaEntry {
  /** The batch. */
  readonly _id: string;
  readonly due: Date;
}

/** What the collection of an agenda is declared by. */
export function agendaSpec(name: string): CollectionSpec {
  return { name, indexes: [{ fields: { due: 1 } }] };
}

/**
 * Lists the batches that somebody is to look at, and when. A list of its own, since the embedded database reads the whole
 * of a collection for whatever is not asked for by its exact key, and records of batches are kept for months.
 */
export class BatchAgenda {
  readonly #entries: Collection<AgendaEntry>;

  constructor(connection: Connection, spec: CollectionSpec) {
    this.#entries = new Collection<AgendaEntry>(connection, spec);
  }

  /** The batch is to be looked at then, and not when it was noted for before. */
  async note(batchId: string, due: Date): Promise<void> {
    await this.#entries.upsert(batchId, { $set: { due } });
  }

  /** The same for those that are not on the agenda yet. */
  async noteAbsent(entries: readonly AgendaEntry[]): Promise<void> {
    await this.#entries.insertAbsent(entries);
  }

  /** Some that are to be looked at by now, the longest due first. */
  due(now: Date, limit: number): Promise<AgendaEntry[]> {
    return this.#entries.find({ due: { $lte: now } }, { sort: { due: 1 }, limit });
  }

  /** Not yet: at another time. Changes nothing when the batch has been noted anew. */
  async postpone({ _id, due }: AgendaEntry, until: Date): Promise<void> {
    await this.#entries.updateOne({ _id, due }, { $set: { due: until } });
  }

  /** Nothing is to be done. Changes nothing when the batch has been noted anew. */
  async remove({ _id, due }: AgendaEntry): Promise<void> {
    await this.#entries.deleteOne({ _id, due });
  }
}
