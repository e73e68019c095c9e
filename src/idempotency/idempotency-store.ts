import { createHash, randomUUID } from 'node:crypto';
import type { Connection } from 'mongoose';
import { v7 } from 'uuid';
import type { Clock } from '../clock.ts';
import { PlatenError } from '../errors/registry.ts';
import { Collection, type CollectionSpec } from '../store/collection.ts';

/** How long a key is remembered, in milliseconds. */
const REMEMBERED_MS = 24 * 3_600_000;
/** A request that has not renewed its lock for this long is taken for dead; another may go on in its place. */
const LOCK_MS = 6000;
const RENEW_MS = 2000;

/**
 * What a key stands for. The id of the work is chosen with the key, before anything is done: whoever goes on after a
 * crash finds the work under that id, or knows that it was never begun.
 */
export interface IdempotencyRecord {
  /** SHA-256 of scope, route and key. */
  readonly _id: string;
  /** Hex SHA-256 of the body. */
  readonly bodyHash: string;
  readonly workId: string;
  /** Who holds the lock; changes with every take-over. */
  readonly holder: string;
  readonly lockedUntil: Date;
  /** The HTTP status of the first answer; null while there is none. */
  readonly answered: number | null;
  readonly expiresAt: Date;
}

/** The right, held alone, to do the work of a key. */
export interface IdempotencyLock {
  readonly workId: string;
  /** True when an earlier request with this key died: the work may have been begun. */
  readonly resumed: boolean;
  /**
   * To be called right before something is taken for the work: the process may have stood still for so long that another
   * has gone on in its place.
   *
   * @throws PlatenError IDEMPOTENCY_IN_PROGRESS when the lock has not been renewed in time.
   */
  assertHeld(): void;
  /** The first answer is on its way: others get the same from now on. */
  answered(status: number): Promise<void>;
  /** Nothing was done: the key is forgotten, and can be used anew with any body. */
  abandon(): Promise<void>;
  /** There is no answer, but the work may have been begun: the next request with this key goes on with it. */
  release(): Promise<void>;
}

export type Begun =
  | { readonly kind: 'run'; readonly lock: IdempotencyLock }
  | { readonly kind: 'replay'; readonly workId: string; readonly status: number };

const KEYS: CollectionSpec = {
  name: 'idempotency_keys',
  indexes: [
    // Compare-and-set by exactly these two fields is one index look-up on every supported database.
    { fields: { _id: 1, holder: 1 }, unique: true },
    { fields: { expiresAt: 1 } },
  ],
};

/** Remembers idempotency keys, per scope and route. */
export class IdempotencyStore {
  readonly #keys: Collection<IdempotencyRecord>;
  readonly #clock: Clock;

  constructor(connection: Connection, clock: Clock) {
    this.#keys = new Collection(connection, KEYS);
    this.#clock = clock;
  }

  /**
   * Begins a request under a key.
   *
   * @param scope within which the key is one: the account, and the mode of its API key.
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
      // The id of a job in the end: in the order of time, as `newJobId` has it.
      workId: v7(),
      holder: randomUUID(),
      lockedUntil: new Date(now.getTime() + LOCK_MS),
      answered: null,
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
    if (known.answered !== null) return { kind: 'replay', workId: known.workId, status: known.answered };
    if (known.lockedUntil > now) throw inProgress();
    return this.#takeOver(known, now);
  }

  /** Forgets keys whose 24 hours have ended. @returns how many. */
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
      // A renewal that fails is made up for by the next; if none gets through, another may take over, as it should.
      keys.updateOne(mine, { $set: { lockedUntil } }).then(
        (stillMine) => {
          if (stillMine && lockedUntil > heldUntil) heldUntil = lockedUntil;
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
      async answered(status) {
        clearInterval(renewal);
        await keys.updateOne(mine, { $set: { answered: status } });
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
