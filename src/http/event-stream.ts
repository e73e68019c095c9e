import { Readable } from 'node:stream';
import { pause, systemTimers, type Timers } from '../async/timers.ts';
import { OpenStreams } from '../limits/open-streams.ts';
import { SharedLooks } from './shared-looks.ts';

/** How a thing stands at a moment. */
export interface Snapshot {
  /** Changes whenever there is something to tell. */
  readonly id: string;
  readonly data: unknown;
  /** Nothing follows it. */
  readonly last: boolean;
}

export interface Followed {
  readonly accountId: string;
  /** Names what is followed: all who follow it are shown what one look has seen. */
  readonly thing: string;
  /** Names it to `happened`. Several things may have the same. */
  readonly group: string;
  /** The last event that the caller has seen. */
  readonly lastEventId: string | undefined;
  readonly look: () => Promise<Snapshot>;
}

const LIMITS = { perAccount: 20, inAll: 1000 };
/** Between two looks, in milliseconds: what happens in between is told together. */
const LOOK_MS = 500;
/** What one follower has seen is shown to the others for a little less, for timers may fire early. */
const EARLY_MS = 50;
/**
 * Between two looks while nothing happens. Not everything that can be told is an event of the bus, and those may be lost.
 */
const QUIET_LOOK_MS = 4000;
/** A line that says nothing, so that nobody between here and the caller takes the connection for dead. */
const HEARTBEAT_MS = 15_000;

/**
 * Streams of server-sent events (HTML standard, section 9.2) about things that are looked at again and again. A caller
 * who reads slowly is told how things stand when it reads: nothing is gathered for it.
 */
export class EventStreams {
  readonly #open: OpenStreams;
  readonly #looks: SharedLooks<Snapshot>;
  readonly #timers: Timers;
  readonly #closing = new AbortController();

  /** @param limits of one account, and of this process. */
  constructor(limits: typeof LIMITS = LIMITS, timers: Timers = systemTimers) {
    this.#open = new OpenStreams({ ...limits, what: 'event streams' });
    this.#timers = timers;
    this.#looks = new SharedLooks(
      { leastMs: LOOK_MS - EARLY_MS, mostMs: QUIET_LOOK_MS - EARLY_MS },
      (one, other) => one.id === other.id,
      timers,
    );
  }

  /** @throws PlatenError as `OpenStreams.take` does when there are as many streams as there may be. */
  follow(followed: Followed): Readable {
    const { accountId, thing, group } = followed;
    const place = this.#open.take(accountId);
    this.#looks.join(thing, group);
    const gone = new AbortController();
    const events = this.#events(followed, AbortSignal.any([gone.signal, this.#closing.signal]));
    const stream = Readable.from(endedBy(gone, events), { objectMode: false, highWaterMark: 1024 });
    stream.once('close', () => this.#looks.leave(thing));
    return place.hold(stream);
  }

  /** Something of this group has happened: it is looked at within half a second. */
  happened(group: string): void {
    this.#looks.happened(group);
  }

  /** Ends all streams: whoever follows comes back to another process. */
  close(): void {
    this.#closing.abort();
  }

  async *#events({ thing, look, lastEventId }: Followed, signal: AbortSignal): AsyncGenerator<string> {
    let told = lastEventId;
    let heard = this.#timers.nowMs();
    yield 'retry: 2000\n\n';
    while (!signal.aborted) {
      const snapshot = await this.#looks.see(thing, look);
      if (snapshot.id !== told || snapshot.last) {
        told = snapshot.id;
        heard = this.#timers.nowMs();
        yield eventText(snapshot);
        if (snapshot.last) return;
      } else if (this.#timers.nowMs() - heard >= HEARTBEAT_MS) {
        heard = this.#timers.nowMs();
        yield ':\n\n';
      }
      await pause(this.#timers, LOOK_MS, signal).catch(() => undefined);
    }
  }
}

/**
 * Ends a generator that waits by itself: a stream that is destroyed asks it to return, which it would only hear of when it
 * has the next thing to tell.
 */
function endedBy(gone: AbortController, events: AsyncGenerator<string>): AsyncIterable<string> {
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => events.next(),
      return() {
        gone.abort();
        return events.return(undefined);
      },
    }),
  };
}

function eventText({ id, data, last }: Snapshot): string {
  return `event: ${last ? 'end' : 'progress'}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
}
