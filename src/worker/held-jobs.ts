import { within } from '../infra/async/timeout.ts';
import type { Logger } from '../infra/telemetry/logger.ts';
import type { Job } from '../work/jobs/job.ts';
import type { Transitions } from '../work/jobs/store/transitions.ts';

/** Why a render was stopped from outside. */
type StopReason = 'lost' | 'shutdown' | 'unable';

export interface HeldJob {
  readonly job: Job;
  readonly signal: AbortSignal;
  /** Called when the attempt's end is recorded: its lease is no longer renewed. */
  recorded(): void;
}

interface Entry {
  readonly job: Job;
  readonly controller: AbortController;
  recorded: boolean;
}

/** Renewals during one lease: two of three may fail. */
const RENEWALS_PER_LEASE = 3;

/**
 * The jobs that a worker holds, and their leases, which are renewed together in one update while the jobs are rendered.
 * A job that another worker has claimed, or that was cancelled, is stopped. Every job is stopped when the database
 * cannot be reached for the duration of a lease, since other workers will have claimed them by then.
 */
export class HeldJobs {
  readonly #held = new Map<string, Entry>();
  readonly #transitions: Transitions;
  readonly #owner: string;
  readonly #leaseMs: number;
  readonly #logger: Logger;
  readonly #timer: NodeJS.Timeout;
  #idle: (() => void)[] = [];
  #renewing = false;
  #lastRenewal = Date.now();

  constructor(transitions: Transitions, owner: string, leaseMs: number, logger: Logger) {
    this.#transitions = transitions;
    this.#owner = owner;
    this.#leaseMs = leaseMs;
    this.#logger = logger;
    this.#timer = setInterval(() => void this.renew(), leaseMs / RENEWALS_PER_LEASE);
    this.#timer.unref();
  }

  get size(): number {
    return this.#held.size;
  }

  /** @param onRecorded called once the end of the attempt is recorded, before its follow-up steps. */
  add(job: Job, onRecorded: () => void): HeldJob {
    const controller = new AbortController();
    if (this.#held.size === 0) this.#lastRenewal = Date.now();
    const entry: Entry = { job, controller, recorded: false };
    this.#held.set(job._id, entry);
    return {
      job,
      signal: controller.signal,
      recorded: () => {
        entry.recorded = true;
        onRecorded();
      },
    };
  }

  remove(jobId: string): void {
    this.#held.delete(jobId);
    if (this.#held.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Whether the worker holds a job whose end it has not recorded yet. */
  holds(jobId: string): boolean {
    return this.#held.get(jobId)?.recorded === false;
  }

  /** Renews every lease and stops lost jobs. Called at intervals, and when an event reports the end of a held job. */
  async renew(): Promise<void> {
    const held = [...this.#held.values()].filter((entry) => !entry.recorded).map(({ job }) => job);
    if (held.length === 0 || this.#renewing) return;
    this.#renewing = true;
    const before = Date.now();
    try {
      const lost = await this.#transitions.renew(this.#owner, held, this.#leaseMs);
      this.#lastRenewal = before;
      for (const jobId of lost) this.#stop(jobId, 'lost');
    } catch (error) {
      this.#logger.warn({ err: error }, 'leases not renewed');
      if (Date.now() - this.#lastRenewal > this.#leaseMs) this.stopAll('lost');
    } finally {
      this.#renewing = false;
    }
  }

  stopAll(reason: StopReason): void {
    for (const jobId of this.#held.keys()) this.#stop(jobId, reason);
  }

  /** Resolves when no job is held, or after `withinMs` milliseconds. @returns whether no job is held. */
  async drained(withinMs: number): Promise<boolean> {
    if (this.#held.size === 0) return true;
    const idle = new Promise<void>((resolve) => this.#idle.push(resolve));
    await within(withinMs, 'The jobs that are held', idle).catch(() => undefined);
    return this.#held.size === 0;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #stop(jobId: string, reason: StopReason): void {
    const entry = this.#held.get(jobId);
    if (entry?.recorded === false) entry.controller.abort(reason);
  }
}
