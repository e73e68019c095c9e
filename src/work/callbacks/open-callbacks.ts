import type { Core } from '../../infra/core.ts';
import type { Batch } from '../batches/batch.ts';
import type { FollowUpStep } from '../jobs/job-follow-up.ts';
import { DeliveryStore } from './delivery-store.ts';
import { callBackBatch, callBackJobs } from './schedule-callbacks.ts';
import { SigningKeys } from './signing-keys.ts';
import { uploadJobs } from './uploads.ts';

/** The parts of callbacks that every role needs: a process that ends a job schedules its callback. */
export interface Callbacks {
  readonly deliveries: DeliveryStore;
  /** What signs them. */
  readonly keys: SigningKeys;
  readonly batchFinished: (batch: Batch) => Promise<void>;
  readonly step: FollowUpStep;
  readonly uploadStep: FollowUpStep;
  /** PDFs that are put to addresses of their accounts. */
  readonly uploads: DeliveryStore;
}

/** To be created before the connection's indexes. */
export function openCallbacks({ connection, clock }: Pick<Core, 'connection' | 'clock'>): Callbacks {
  const deliveries = new DeliveryStore(connection, clock);
  const uploads = new DeliveryStore(connection, clock, undefined, 'uploads');
  return {
    deliveries,
    uploads,
    keys: new SigningKeys(connection, clock),
    batchFinished: callBackBatch({ deliveries, clock }),
    step: callBackJobs({ deliveries, clock }),
    uploadStep: uploadJobs({ uploads, clock }),
  };
}
