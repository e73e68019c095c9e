import { Readable } from 'node:stream';
import { pause, systemTimers, type Timers } from '../../infra/async/timers.ts';
import { openStreams, reserveStream } from '../../infra/overload/open-streams.ts';
import type { ReservationBounds, Reservations } from '../../infra/overload/reservations.ts';
import { SharedPolls } from './shared-polls.ts';

/** The state of a resource at one moment. */
export interface Snapshot {
  /** Changes whenever the state changes. */
  readonly id: string;
  readonly data: unknown;
  /** True when no further state follows. */
  readonly last: boolean;
}

export interface Followed {
  readonly accountId: string;
  /** The id of the followed resource: all followers of it share the results of polls. */
  readonly resource: string;
  /** The id for `notify`, which several resources may share. */
  readonly group: string;
  readonly lastEventId: string | undefined;
  readonly check: () => Promise<Snapshot>;
}

/** Streams of one account, and of one process. */
const BOUNDS: ReservationBounds = { perOwner: 20, inAll: 1000 };
/** The interval between two polls, in milliseconds: changes in between are sent as one event. */
const POLL_MS = 500;
/** The result of a poll is shared for this much less, because timers may fire early. Milliseconds. */
const EARLY_MS = 50;
/** The longest interval between two polls while nothing changes, in milliseconds. */
const QUIET_CHECK_MS = 1000;
/** Streams of one account's dashboard pages, one for each visible page, and of one process. */
const ACCOUNT_BOUNDS: ReservationBounds = { perOwner: 10, inAll: 1000 };
/** The interval of empty lines, in milliseconds, so that no proxy takes the connection for dead. */
const HEARTBEAT_MS = 15_000;

/**
 * Streams of server-sent events (HTML standard, section 9.2) about polled resources. A slow caller gets the present
 * state when it reads: no events are buffered for it.
 */
export class EventStreams {
  readonly #open: Reservations;
  readonly #polls: SharedPolls<Snapshot>;
  readonly #timers: Timers;
  readonly #closing = new AbortController();

  constructor(bounds = BOUNDS, timers: Timers = systemTimers) {
    this.#open = openStreams(bounds, 'event streams');
    this.#timers = timers;
    this.#polls = new SharedPolls(
      { leastMs: POLL_MS - EARLY_MS, mostMs: QUIET_CHECK_MS - EARLY_MS },
      (one, other) => one.id === other.id,
      timers,
    );
  }

  /** @throws PlatenError as `reserveStream` when the bound of open streams is reached. */
  follow(followed: Followed): Readable {
    const { accountId, resource, group } = followed;
    const reservation = reserveStream(this.#open, accountId);
    this.#polls.join(resource, group);
    const gone = new AbortController();
    const events = this.#events(followed, AbortSignal.any([gone.signal, this.#closing.signal]));
    const stream = Readable.from(endedBy(gone, events), { objectMode: false, highWaterMark: 1024 });
    stream.once('close', () => this.#polls.leave(resource));
    return reservation.hold(stream);
  }

  /** Has the resources of a group polled within half a second, because one may have changed. */
  notify(group: string): void {
    this.#polls.notify(group);
  }

  /** Ends all streams: clients reconnect, to another process. */
  close(): void {
    this.#closing.abort();
  }

  async *#events({ resource, check, lastEventId }: Followed, signal: AbortSignal): AsyncGenerator<string> {
    let reported = lastEventId;
    let sentAt = this.#timers.nowMs();
    yield 'retry: 2000\n\n';
    while (!signal.aborted) {
      const snapshot = await this.#polls.poll(resource, check);
      if (snapshot.id !== reported || snapshot.last) {
        reported = snapshot.id;
        sentAt = this.#timers.nowMs();
        yield eventText(snapshot);
        if (snapshot.last) return;
      } else if (this.#timers.nowMs() - sentAt >= HEARTBEAT_MS) {
        sentAt = this.#timers.nowMs();
        yield ':\n\n';
      }
      await pause(this.#timers, POLL_MS, signal).catch(() => undefined);
    }
  }
}

/** Streams of changes to accounts' jobs, for the dashboard. */
export function accountStreams(): EventStreams {
  return new EventStreams(ACCOUNT_BOUNDS);
}

/** Ends the events when the stream is destroyed: `return` of a generator takes effect only at its next event. */
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
