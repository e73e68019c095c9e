import { createHash, randomUUID } from 'node:crypto';
import type { Connection } from 'mongoose';
import { v7 } from 'uuid';
import type { Timers } from '../../infra/async/timers.ts';
import type { Clock } from '../../infra/clock.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';
import { FutureTimes } from '../../infra/store/future-times.ts';

/** How long a key is remembered, in milliseconds. */
const REMEMBERED_MS = 24 * 3_600_000;
/** Milliseconds after which a request that has not renewed its lock is dead: another may take the lock over. */
const LOCK_MS = 6000;
const RENEW_MS = 2000;

/**
 * The record of a key. The id of the work is chosen with the record, before the work begins: after a crash, the next
 * request finds the work under that id, or knows that it was never begun.
 */
interface IdempotencyRecord {
  /** SHA-256 of scope, route and key. */
  readonly _id: string;
  /** Hex SHA-256 of the body. */
  readonly bodyHash: string;
  readonly workId: string;
  /** Identifies the holder of the lock; changes with every take-over. */
  readonly holder: string;
  readonly lockedUntil: Date;
  /** The HTTP status of the first response; null while there is none. */
  readonly responded: number | null;
  readonly expiresAt: Date;
}

/** The exclusive right to do the work of a key. */
export interface IdempotencyLock {
  readonly workId: string;
  /** True when an earlier request with this key died: the work may have been begun. */
  readonly resumed: boolean;
  /**
   * To be called right before resources are taken for the work: the process may have been suspended for so long that
   * another one has taken the lock over.
   *
   * @throws PlatenError IDEMPOTENCY_IN_PROGRESS when the lock has not been renewed in time.
   */
  assertHeld(): void;
  /** Records the first response: later requests with this key get the same. */
  responded(status: number): Promise<void>;
  /** Deletes the key, because nothing was done: it can be used anew with any body. */
  abandon(): Promise<void>;
  /** Releases the lock without a response; the next request with this key continues work that was begun. */
  release(): Promise<void>;
}

export type Begun =
  | { readonly kind: 'run'; readonly lock: IdempotencyLock }
  | { readonly kind: 'replay'; readonly workId: string; readonly status: number };

const KEYS: CollectionSpec = {
  name: 'idempotency_keys',
  account: { none: 'hashes, which name no account, and are deleted after a day' },
  indexes: [
    // Makes compare-and-set by exactly these two fields one index lookup on every supported database.
    { fields: { _id: 1, holder: 1 }, unique: 'embedded' },
    { fields: { expiresAt: 1 } },
  ],
};

/** Remembers idempotency keys, per scope and route. */
export class IdempotencyStore {
  readonly #keys: Collection<IdempotencyRecord>;
  readonly #clock: Clock;
  readonly #times: FutureTimes;

  constructor(connection: Connection, clock: Clock, timers?: Timers) {
    this.#keys = new Collection(connection, KEYS);
    this.#clock = clock;
    this.#times = new FutureTimes(clock, { timers, logger: this.#keys.logger });
  }

  /**
   * Begins a request under a key.
   *
   * @param scope in which the key is unique: the account, and the mode of its API key.
   * @param bodyHash hex SHA-256 of the body as it was sent.
   * @throws PlatenError IDEMPOTENCY_MISMATCH when the key was used with another body; IDEMPOTENCY_IN_PROGRESS while
   * the first request is still being processed.
   */
  async begin(scope: string, route: string, key: string, bodyHash: string): Promise<Begun> {
    const id = createHash('sha256')
      .update(JSON.stringify([scope, route, key]))
      .digest('hex');
    const now = this.#clock.now();
    const fresh: IdempotencyRecord = {
      _id: id,
      bodyHash,
      // It becomes the id of a job, so it is ordered by time as ids of `newJobId` are.
      workId: v7(),
      holder: randomUUID(),
      lockedUntil: new Date(now.getTime() + LOCK_MS),
      responded: null,
      expiresAt: new Date(now.getTime() + REMEMBERED_MS),
    };
    if (await this.#keys.insertIfAbsent(fresh)) return { kind: 'run', lock: this.#lock(fresh, false) };
    const known = await this.#keys.findById(id);
    if (known === undefined) return this.begin(scope, route, key, bodyHash);
    if (known.expiresAt <= now) {
      await this.#keys.deleteOne({ _id: id, holder: known.holder });
      return this.begin(scope, route, key, bodyHash);
    }
    if (known.bodyHash !== bodyHash) throw new PlatenError('IDEMPOTENCY_MISMATCH');
    if (known.responded !== null) return { kind: 'replay', workId: known.workId, status: known.responded };
    if (!this.#times.isOver(id, known.lockedUntil, LOCK_MS)) throw inProgress();
    return this.#takeOver(known, now);
  }

  /** Deletes keys whose 24 hours have ended. @returns the number of deleted keys. */
  deleteExpired(now: Date): Promise<number> {
    return this.#keys.deleteMany({ expiresAt: { $lte: now } });
  }

  async #takeOver(dead: IdempotencyRecord, now: Date): Promise<Begun> {
    const mine = { ...dead, holder: randomUUID(), lockedUntil: new Date(now.getTime() + LOCK_MS) };
    const taken = await this.#keys.updateOne(
      { _id: dead._id, holder: dead.holder },
      { $set: { holder: mine.holder, lockedUntil: mine.lockedUntil } },
    );
    if (!taken) throw inProgress();
    return { kind: 'run', lock: this.#lock(mine, true) };
  }

  #lock(record: IdempotencyRecord, resumed: boolean): IdempotencyLock {
    const keys = this.#keys;
    const clock = this.#clock;
    const mine = { _id: record._id, holder: record.holder };
    let heldUntil = record.lockedUntil;
    const renewal = setInterval(() => {
      const lockedUntil = new Date(clock.now().getTime() + LOCK_MS);
      // The next renewal makes up for one that fails; when all fail, another request takes over, as it should.
      keys.updateOne(mine, { $set: { lockedUntil } }).then(
        (stillMine) => {
          // The clock may have been set back since.
          const isTooLate = heldUntil.getTime() > clock.now().getTime() + LOCK_MS;
          if (stillMine && (lockedUntil > heldUntil || isTooLate)) heldUntil = lockedUntil;
        },
        () => undefined,
      );
    }, RENEW_MS);
    renewal.unref();
    return {
      workId: record.workId,
      resumed,
      assertHeld() {
        if (clock.now() >= heldUntil) throw inProgress();
      },
      async responded(status) {
        clearInterval(renewal);
        await keys.updateOne(mine, { $set: { responded: status } });
      },
      async abandon() {
        clearInterval(renewal);
        await keys.deleteOne(mine);
      },
      async release() {
        clearInterval(renewal);
        await keys.updateOne(mine, { $set: { lockedUntil: new Date(0) } });
      },
    };
  }
}

function inProgress(): PlatenError {
  return new PlatenError('IDEMPOTENCY_IN_PROGRESS', undefined, { retryAfterSeconds: 1 });
}
