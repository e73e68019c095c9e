import { every } from '../infra/async/every.ts';
import type { Subscription } from '../infra/bus/bus.ts';
import type { WorkerState } from '../work/pools/worker-registry.ts';
import { HeldJobs } from './held-jobs.ts';
import { JobClaims, type JobClaimsDeps } from './job-claims.ts';

/** Longest wait for killed renders to be recorded as given back, in milliseconds. */
const GIVE_BACK_MS = 5000;
/** Milliseconds without a browser after which a worker leaves its jobs to others; a new one normally comes sooner. */
const UNABLE_AFTER_MS = 5000;
const CHECK_EVERY_MS = 1000;

/** Decides whether a worker claims jobs (job-claims.ts says how): by requests, and by whether it can render. */
export class Worker {
  readonly #deps: JobClaimsDeps;
  readonly #held: HeldJobs;
  readonly #claims: JobClaims;
  #cancels: Subscription | undefined;
  #endChecks = () => {};
  #state: WorkerState = 'starting';
  #pauseRequested = false;
  /** Whether it has been without a browser for longer than UNABLE_AFTER_MS. */
  #unable = false;
  #ableAt = performance.now();
  /** Settles when the last change of claiming has been made; changes are made one after another. */
  #changed: Promise<void> = Promise.resolve();

  constructor(deps: JobClaimsDeps) {
    this.#deps = deps;
    this.#held = new HeldJobs(deps.store.transitions, deps.owner, deps.leaseMs, deps.logger);
    this.#claims = new JobClaims(deps, this.#held);
  }

  /** See pools/worker-registry.ts. `paused` only once nothing more can be claimed. */
  get state(): WorkerState {
    return this.#state;
  }

  /** Jobs that the worker holds, or is about to hold. */
  get busy(): number {
    return Math.max(this.#held.size, this.#claims.slotsTaken);
  }

  async start(): Promise<void> {
    // When an event reports that a held job was cancelled, its lease is renewed at once, which detects the
    // cancellation.
    this.#cancels = await this.#deps.bus.subscribeEvents('cancels', ({ jobId }) => {
      if (this.#held.holds(jobId)) void this.#held.renew();
    });
    this.#endChecks = every(CHECK_EVERY_MS, () => this.#checkRenderer());
    await this.resume();
  }

  /** Stops claiming before this resolves; held jobs continue. Waiting pointers are published to other workers. */
  pause(): Promise<void> {
    this.#pauseRequested = true;
    return this.#settle();
  }

  /** Claims again after a pause, as soon as it can render. */
  resume(): Promise<void> {
    this.#pauseRequested = false;
    return this.#settle();
  }

  /** Takes no more jobs, gives held ones back after `graceMs` milliseconds; resolves when none is held. */
  async stop(graceMs: number): Promise<void> {
    const deadline = performance.now() + graceMs;
    this.#become('ending');
    this.#endChecks();
    await this.#changed;
    await this.#claims.close();
    await this.#cancels?.stop();
    if (!(await this.#held.drained(Math.max(0, deadline - performance.now())))) {
      this.#held.stopAll('shutdown');
      await this.#held.drained(GIVE_BACK_MS);
    }
    this.#held.close();
  }

  /** A worker that cannot render claims nothing and leaves its jobs to others, until it can again. */
  #checkRenderer(): void {
    const { renderer, logger } = this.#deps;
    const now = performance.now();
    if (renderer.health().ready) this.#ableAt = now;
    const unable = now - this.#ableAt > UNABLE_AFTER_MS;
    if (unable === this.#unable) return;
    this.#unable = unable;
    if (unable) logger.error('no browser can be had: jobs are left to other workers');
    else logger.info('there is a browser again: jobs are claimed');
    this.#settle().catch((error: unknown) => {
      logger.warn({ err: error }, 'the worker could not stop claiming, or begin again');
    });
  }

  /** Starts or stops claiming, after all earlier changes have been made. Does nothing while the worker ends. */
  #settle(): Promise<void> {
    const done = this.#changed.then(() => (this.#state === 'ending' ? undefined : this.#openOrClose()));
    // The caller gets the error; the next change is made all the same.
    this.#changed = done.catch(() => {});
    return done;
  }

  async #openOrClose(): Promise<void> {
    if (!this.#pauseRequested && !this.#unable) {
      await this.#claims.open();
      this.#become('claiming');
      return;
    }
    await this.#claims.close();
    if (this.#unable) this.#held.stopAll('unable');
    this.#become('paused');
  }

  #become(state: WorkerState): void {
    // `ending` is final: the worker may be stopped during another change.
    if (this.#state !== 'ending') this.#state = state;
  }
}
