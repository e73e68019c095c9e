import { within } from '../../../infra/async/timeout.ts';
import type { Bus, JobEvent, OutputOffer, Subscription } from '../../../infra/bus/bus.ts';
import type { Job } from '../job.ts';

/**
 * The first pause between two reads of a job that is waited for, which doubles, and the longest; in milliseconds. Thousands
 * of callers wait for long just when the database has most to do.
 */
const POLL_MS = { first: 1000, most: 4000 };

/** Offered PDFs that one process holds for its callers, of 1 MiB each at most. */
const MOST_HELD = 64;

type TakeOffer = (offer: OutputOffer) => Promise<Uint8Array>;

interface Waiting {
  readonly finish: (result: WaitResult) => void;
  /** Whether an offered PDF was asked for. */
  asked: boolean;
  offered?: Uint8Array;
}

/** The result of a wait: the job has ended, another attempt is scheduled, or the time limit is reached. */
export interface WaitResult {
  readonly kind: 'ended' | 'retrying' | 'timeout';
  /** The ended job, if it ended in this process; otherwise it has to be read. */
  readonly job?: Job | undefined;
  /** What its worker has rendered, if that came before the end: a PDF that may be another attempt's. */
  readonly offered?: Uint8Array | undefined;
}

/** Lets a request wait for its job. Events are hints that may be lost, so the job is also polled slowly. */
export class OutcomeWaiter {
  /** Where outcomes have to be sent to be heard here; undefined when no other process sends any. */
  readonly address: number | undefined;
  readonly #waiting = new Map<string, Waiting>();
  readonly #take: TakeOffer | undefined;
  #held = 0;
  readonly #subscription: Promise<Subscription>;
  #onIdle: (() => void) | undefined;

  /** @param take fetches what workers offer; default: that is read from the store. */
  constructor(bus: Bus, take?: TakeOffer) {
    this.#take = take;
    this.address = bus.address;
    this.#subscription = bus.subscribeEvents('outcomes', (event) => this.#onEvent(event));
  }

  /**
   * Starts to wait for a job. To be called before the job is submitted, so that no event is missed.
   *
   * @param check queries the database; a result ends the wait.
   * @returns `result` resolves once; `stop` ends the wait early.
   */
  expect(
    jobId: string,
    timeoutMs: number,
    check: () => Promise<'ended' | 'retrying' | undefined>,
  ): { result: Promise<WaitResult>; stop(): void } {
    let poll: NodeJS.Timeout | undefined;
    let limit: NodeJS.Timeout | undefined;
    const result = new Promise<WaitResult>((resolve) => {
      const finish = (outcome: WaitResult) => {
        clearTimeout(poll);
        clearTimeout(limit);
        if (waiting.asked) this.#held -= 1;
        this.#waiting.delete(jobId);
        if (this.#waiting.size === 0) this.#onIdle?.();
        resolve({ ...outcome, offered: waiting.offered });
      };
      const waiting: Waiting = { finish, asked: false };
      this.#waiting.set(jobId, waiting);
      limit = setTimeout(() => finish({ kind: 'timeout' }), timeoutMs);
      const pollIn = (ms: number) => {
        poll = setTimeout(() => {
          pollIn(Math.min(2 * ms, POLL_MS.most));
          check().then(
            (found) => found !== undefined && finish({ kind: found }),
            // The database cannot be reached; the next poll or the time limit ends the wait.
            () => undefined,
          );
        }, ms);
      };
      pollIn(POLL_MS.first);
    });
    return { result, stop: () => this.#waiting.get(jobId)?.finish({ kind: 'timeout' }) };
  }

  /** Ends all waits, after `graceMs` milliseconds for callers to get the results of their jobs. */
  async close(graceMs: number): Promise<void> {
    if (this.#waiting.size > 0) {
      const idle = new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
      await within(graceMs, 'the last jobs', idle).catch(() => {});
    }
    for (const { finish } of [...this.#waiting.values()]) finish({ kind: 'timeout' });
    await (await this.#subscription).stop();
  }

  #onEvent({ jobId, kind, record, offer }: JobEvent): void {
    const waiting = this.#waiting.get(jobId);
    if (waiting === undefined || kind === 'cancelled') return;
    if (kind !== 'offered') waiting.finish({ kind, job: record as Job | undefined });
    else if (offer !== undefined) this.#takeFor(waiting, offer);
  }

  /** Never fails: what is not there by the end of the job is read from the store. */
  #takeFor(waiting: Waiting, offer: OutputOffer): void {
    if (this.#take === undefined || waiting.asked || this.#held >= MOST_HELD) return;
    waiting.asked = true;
    this.#held += 1;
    this.#take(offer).then(
      (bytes) => {
        waiting.offered = bytes;
      },
      () => undefined,
    );
  }
}
