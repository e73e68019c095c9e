import type { Core } from '../../infra/core.ts';
import { FutureTimes } from '../../infra/store/future-times.ts';
import type { NamedPlan } from '../../tenants/plans/plan.ts';
import { Admission } from './admission.ts';
import { BlockLedger } from './blocks/block-ledger.ts';
import { QuotaExtension } from './blocks/quota-extension.ts';
import { IdempotencyStore } from './idempotency-store.ts';
import type { Job } from './job.ts';
import { JobDispatch } from './job-dispatch.ts';
import { type FollowUpStep, JobFollowUp } from './job-follow-up.ts';
import { Ledger } from './ledger/ledger.ts';
import { DueLedgers } from './ledger/ledger-due.ts';
import { LedgerLoads } from './ledger/ledger-loads.ts';
import { openLedgers } from './ledger/ledger-record.ts';
import { LedgerUsage } from './ledger/ledger-usage.ts';
import { StoredBytes } from './ledger/stored-bytes.ts';
import { Retries } from './retries.ts';
import { openJobStore } from './store/job-store.ts';

export interface JobsCore extends Pick<Core, 'connection' | 'bus' | 'clock' | 'logger'> {
  /** The present plan of an account. */
  readonly planOf: (accountId: string) => Promise<NamedPlan>;
  /** Renders at a time in one worker of a pool. */
  readonly slotsPerWorker: (pool: string) => number;
  /** Called once for every job that ends, whatever its outcome; for counters. */
  readonly observeEnd: (job: Job) => void;
  /** Further steps after the end of jobs, of other parts of Platen. */
  readonly furtherSteps?: readonly FollowUpStep[];
  /** Called for every submission that a used-up quota rejects. */
  readonly onQuotaUsedUp?: (accountId: string) => void;
}

/** To be created before the connection's indexes. */
export function openJobs(core: JobsCore) {
  const { connection, clock, logger, observeEnd: observe } = core;
  const store = openJobStore(connection, clock);
  const ledgers = openLedgers(connection);
  const ledger = new Ledger(ledgers, clock);
  const dispatch = new JobDispatch({ ...core, store, ledger });
  const blockLedger = new BlockLedger(ledgers, clock);
  const quotaExtension = new QuotaExtension(blockLedger, clock, undefined, core.onQuotaUsedUp);
  const own = { ...core, store, ledger, dispatch, quotaExtension };
  return {
    store,
    ledger,
    dueLedgers: new DueLedgers(ledgers, clock),
    ledgerLoads: new LedgerLoads(ledgers, { holders: true }),
    ledgerUsage: new LedgerUsage(ledgers, clock),
    stored: new StoredBytes(ledgers),
    blockLedger,
    quotaExtension,
    dispatch,
    admission: new Admission(own),
    followUp: new JobFollowUp({ ...own, observe }),
    retries: new Retries(own),
    idempotency: new IdempotencyStore(connection, clock),
    /** Measures the times in the records of jobs and ledgers. */
    times: new FutureTimes(clock, { logger }),
  };
}

/** The job services that all roles use. */
export type Jobs = ReturnType<typeof openJobs>;
