import { type Connection, type Model, Schema } from 'mongoose';
import type { Clock } from '../clock.ts';
import { collectionSchema } from '../store/collection-schema.ts';
import { isDuplicateKey } from '../store/duplicate-key.ts';

/**
 * The plan slots of one account. `holders` names the job behind every slot that is taken, so that giving one back
 * twice changes nothing, and a slot whose job is gone can be told from one whose job is on its way.
 */
export interface SlotsRecord {
  readonly _id: string;
  readonly inFlight: number;
  /** Job id → epoch milliseconds when it took the slot. */
  readonly holders: Readonly<Record<string, number>>;
  /** True when jobs of the account may be waiting: newcomers queue up behind them. */
  readonly contended: boolean;
}

/**
 * Takes and gives back plan slots; each call is one atomic update of the account's record. Whoever moves a job out of
 * `dispatched` or `processing` gives its slot back; the sweep gives back those of processes that died in between.
 */
export class Slots {
  readonly #model: Model<SlotsRecord>;
  readonly #clock: Clock;

  constructor(connection: Connection, clock: Clock) {
    const schema = collectionSchema<SlotsRecord>('slots', {
      _id: String,
      inFlight: Number,
      holders: Schema.Types.Mixed,
      contended: Boolean,
    });
    this.#model = connection.model<SlotsRecord>('Slots', schema);
    this.#clock = clock;
  }

  /**
   * Takes a slot for a job, if one is free.
   *
   * @param cap the plan's concurrentRenders.
   * @param overtake take it although others of the account are waiting (they are being served just now).
   */
  async acquire(accountId: string, jobId: string, cap: number, overtake: boolean): Promise<boolean> {
    const holder = `holders.${jobId}`;
    try {
      await this.#model.collection.updateOne(
        {
          _id: accountId as never,
          inFlight: { $lt: cap },
          [holder]: { $exists: false },
          ...(overtake ? {} : { contended: false }),
        },
        {
          $inc: { inFlight: 1 },
          $set: { [holder]: this.#clock.now().getTime(), ...(overtake ? {} : { contended: false }) },
        },
        // Where the filter misses an existing record the insert meets its id: that is the "no".
        { upsert: true },
      );
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  /** Gives a job's slot back. @returns whether others of the account may be waiting for it. */
  async release(accountId: string, jobId: string): Promise<boolean> {
    const holder = `holders.${jobId}`;
    const record = await this.#model.collection.findOneAndUpdate(
      { _id: accountId as never, [holder]: { $exists: true } },
      { $inc: { inFlight: -1 }, $unset: { [holder]: '' } },
      { returnDocument: 'after' },
    );
    return (record as SlotsRecord | null)?.contended ?? true;
  }

  /** Notes that jobs of the account are waiting (or, with false, that none was found). */
  async markContended(accountId: string, contended: boolean): Promise<void> {
    await this.#model.collection.updateOne({ _id: accountId as never }, { $set: { contended } });
  }

  /** Every account that holds a slot or is marked as waiting. */
  async all(): Promise<SlotsRecord[]> {
    return (await this.#model.collection.find({}).toArray()) as unknown as SlotsRecord[];
  }

  /** Removes records that say nothing: no slot taken, nobody waiting. */
  async removeIdle(): Promise<void> {
    await this.#model.collection.deleteMany({ inFlight: 0, contended: { $ne: true } });
  }
}
