import type { JobPointer, Subscription } from '../../src/infra/bus/bus.ts';
import { FutureTimes } from '../../src/infra/store/future-times.ts';
import { DEFAULT_POOL } from '../../src/tenants/plans/names.ts';
import type { Job } from '../../src/work/jobs/job.ts';
import type { LedgerRecord } from '../../src/work/jobs/ledger/ledger-record.ts';
import { repairInterruptedJobs } from '../../src/work/jobs/sweeps/interrupted-jobs.ts';
import { WaitingJobs } from '../../src/work/jobs/sweeps/waiting-jobs.ts';
import { type Domain, newJob, openDomain } from './domain.ts';
import { ManualTimers } from './manual-timers.ts';

/** The jobs of an account `a` whose plan has one slot, no worker, and the sweeps, which run when a test says so. */
export class SweptDomain {
  readonly domain: Domain;
  /** What was published. */
  readonly pointers: JobPointer[] = [];
  /** Why jobs were taken from lost workers. */
  readonly retried: string[] = [];
  /** By which the sweeps measure how long they have seen times that are too far in the future. */
  readonly timers = new ManualTimers();
  readonly #times: FutureTimes;
  readonly #waitingJobs: WaitingJobs;
  #subscription: Subscription | undefined;

  private constructor(domain: Domain) {
    this.domain = domain;
    this.#times = new FutureTimes(domain.clock, { timers: this.timers });
    this.#waitingJobs = new WaitingJobs(domain);
  }

  static async open(): Promise<SweptDomain> {
    const swept = new SweptDomain(await openDomain({ plan: { concurrentRenders: 1 } }));
    swept.#subscription = await swept.domain.bus.consumePointers(DEFAULT_POOL, {
      worker: 'w',
      reserve: async () => ({ release: () => {} }),
      accept: async (pointer) => {
        swept.pointers.push(pointer);
      },
    });
    return swept;
  }

  async close(): Promise<void> {
    await this.#subscription?.stop();
    await this.domain.close();
  }

  /** One run over every job that a ledger names, or that one named when they were `seen`. */
  async repair(seen?: readonly LedgerRecord[]): Promise<number> {
    return repairInterruptedJobs(
      {
        ...this.domain,
        times: this.#times,
        redeliveryMs: 5000,
        retryBaseMs: 1000,
        random: () => 1,
        onRetried: (code) => this.retried.push(code),
      },
      seen ?? (await this.domain.ledger.active()),
    );
  }

  async serve(): Promise<number> {
    return this.#waitingJobs.serve(await this.domain.ledger.active());
  }

  async expire(): Promise<number> {
    return this.#waitingJobs.expire(await this.domain.ledger.active());
  }

  /** @returns the id of a job that was admitted. */
  async submit(overrides: Partial<Job> = {}): Promise<string> {
    const job = newJob('a', overrides);
    await this.domain.admit(job);
    return job.job._id;
  }

  async job(id: string): Promise<Job> {
    return (await this.domain.store.live.find(id)) as Job;
  }

  async claim(id: string, owner: string, leaseMs = 15_000): Promise<Job> {
    const claimed = await this.domain.store.transitions.claim(await this.job(id), owner, leaseMs);
    return claimed?.job as Job;
  }

  /** Stored inputs. */
  async inputs(): Promise<number> {
    const { connection } = this.domain;
    const [own, inJobs] = await Promise.all([
      connection.collection('job_inputs').countDocuments(),
      connection.collection('jobs').countDocuments({ input: { $exists: true } }),
    ]);
    return own + inJobs;
  }

  async usage(): Promise<{ totalRequests: number }> {
    const { domain } = this;
    const reader = {
      accountId: 'a',
      planName: 'professional',
      get plan() {
        return domain.plan;
      },
    };
    return (await domain.usage.reports.summary(reader, '1d', false)) as { totalRequests: number };
  }
}
