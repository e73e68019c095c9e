import type { Connection } from 'mongoose';
import type { Bus } from '../../infra/bus/bus.ts';
import type { Clock } from '../../infra/clock.ts';
import { FutureTimes } from '../../infra/store/future-times.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';
import type { NamedPlan } from '../../tenants/plans/plan.ts';
import type { UsageCounters } from '../../tenants/usage/usage-counters.ts';
import { Admission } from './admission.ts';
import { BlockLedger } from './blocks/block-ledger.ts';
import { QuotaExtension } from './blocks/quota-extension.ts';
import type { Job } from './job.ts';
import { JobDispatch } from './job-dispatch.ts';
import { type FollowUpStep, JobFollowUp } from './job-follow-up.ts';
import { Ledger } from './ledger/ledger.ts';
import { openLedgers } from './ledger/ledger-record.ts';
import { StoredBytes } from './ledger/stored-bytes.ts';
import { Retries } from './retries.ts';
import { type JobStore, openJobStore } from './store/job-store.ts';

/** The job services that all roles use. */
export interface Jobs {
  readonly store: JobStore;
  readonly ledger: Ledger;
  readonly stored: StoredBytes;
  readonly blockLedger: BlockLedger;
  readonly quotaExtension: QuotaExtension;
  readonly dispatch: JobDispatch;
  readonly admission: Admission;
  readonly followUp: JobFollowUp;
  readonly retries: Retries;
  /** Measures the times in the records of jobs and ledgers. */
  readonly times: FutureTimes;
}

export interface JobsDeps {
  readonly connection: Connection;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly usage: UsageCounters;
  /** The present plan of an account. */
  readonly planOf: (accountId: string) => Promise<NamedPlan>;
  /** Renders at a time in one worker of a pool. */
  readonly slotsPerWorker: (pool: string) => number;
  /** Called once for every job that ends, whatever its outcome; for counters. */
  readonly observeEnd: (job: Job) => void;
  /** Further steps after the end of jobs, of other parts of Platen. */
  readonly furtherSteps?: readonly FollowUpStep[];
}

/** To be created before the connection's indexes. */
export function openJobs(deps: JobsDeps): Jobs {
  const { connection, clock, logger, observeEnd: observe } = deps;
  const store = openJobStore(connection, clock);
  const ledgers = openLedgers(connection);
  const ledger = new Ledger(ledgers, clock);
  const dispatch = new JobDispatch({ ...deps, store, ledger });
  const blockLedger = new BlockLedger(ledgers, clock);
  const quotaExtension = new QuotaExtension(blockLedger, clock);
  const own = { ...deps, store, ledger, dispatch, quotaExtension };
  return {
    store,
    ledger,
    stored: new StoredBytes(ledgers),
    blockLedger,
    quotaExtension,
    dispatch,
    admission: new Admission(own),
    followUp: new JobFollowUp({ ...own, observe }),
    retries: new Retries(own),
    times: new FutureTimes(clock, { logger }),
  };
}
