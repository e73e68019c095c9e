import type { Connection } from 'mongoose';
import { WriteBehind } from '../../infra/async/write-behind.ts';
import { Collection, type CollectionSpec, LOSABLE } from '../../infra/store/collection.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';
import type { MaskedHeaders } from './abridged.ts';

/** A body: its text where that is JSON, else what it is. */
export interface KeptBody {
  /** The media type; null for none. */
  readonly type: string | null;
  /** In bytes; null when it is not known. */
  readonly size: number | null;
  /** JSON, abridged and without secrets; null for other bodies. */
  readonly text: string | null;
  /** Whether `text` is the whole body, but for its secrets. */
  readonly isWhole: boolean;
}

/** One side of a request. */
interface Side {
  readonly headers: MaskedHeaders;
  /** Null for none. */
  readonly body: KeptBody | null;
}

/** What was said in a request of the log. */
export interface RequestDetails {
  /** As that of its entry in the log. */
  readonly _id: string;
  /** The path and query, without secrets. */
  readonly path: string;
  readonly request: Side;
  readonly response: Side;
  readonly endsAt: Date;
}

const DETAILS: CollectionSpec = {
  name: 'request_log_details',
  account: 'prefix',
  indexes: [{ fields: { endsAt: 1, _id: 1 }, unique: true }],
};
const DELAY_MS = 1000;
const WRITTEN_AT_ONCE = 500;
/** The most that waits to be written in a process, in characters; what comes beyond is not kept. */
const MOST_WAITING = 8 * 1024 * 1024;
/** Of what is not counted, such as names of fields. */
const OVERHEAD = 512;

/**
 * Headers and bodies of logged requests, apart from the log: they are large, are read one at a time, and end sooner. They are
 * written in the background with those of other accounts. Losing some is no harm, and is what happens beyond a bound.
 */
export class RequestDetailsStore {
  readonly #records: Collection<RequestDetails>;
  readonly #waiting: WriteBehind<RequestDetails>;
  #waitingSize = 0;

  /** To be created before the connection's indexes. */
  constructor(connection: Connection, logger: Logger) {
    this.#records = new Collection(connection, DETAILS);
    this.#waiting = new WriteBehind((batch) => this.#write(batch), logger, {
      delayMs: DELAY_MS,
      flushAt: WRITTEN_AT_ONCE,
    });
  }

  /** Written a moment later, unless too much waits; never fails. */
  add(details: RequestDetails): void {
    const size = sizeOf(details);
    if (this.#waitingSize + size > MOST_WAITING) return;
    this.#waitingSize += size;
    this.#waiting.add(details);
  }

  flush(): Promise<void> {
    return this.#waiting.flush();
  }

  find(id: string): Promise<RequestDetails | undefined> {
    return this.#records.findById(id);
  }

  /** @returns the number of deleted records. */
  deleteOld(now: Date): Promise<number> {
    return this.#records.deleteMany({ endsAt: { $lt: now } });
  }

  async #write(batch: readonly RequestDetails[]): Promise<void> {
    await this.#records.insertAbsent(batch, LOSABLE);
    for (const details of batch) this.#waitingSize -= sizeOf(details);
  }
}

function sizeOf({ path, request, response }: RequestDetails): number {
  const sides = [request, response].map(
    ({ headers, body }) =>
      (body?.text?.length ?? 0) +
      headers.reduce((sum, { name, value }) => sum + name.length + value.length, 0),
  );
  return sides.reduce((sum, size) => sum + size, path.length + OVERHEAD);
}
