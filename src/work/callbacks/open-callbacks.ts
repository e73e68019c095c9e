import type { Connection } from 'mongoose';
import type { Clock } from '../../infra/clock.ts';
import type { Batch } from '../batches/batch.ts';
import type { FollowUpStep } from '../jobs/job-follow-up.ts';
import { DeliveryStore } from './delivery-store.ts';
import { callBackBatch, callBackJobs } from './schedule-callbacks.ts';

/** The parts of callbacks that every role needs: a process that ends a job schedules its callback. */
export interface Callbacks {
  readonly deliveries: DeliveryStore;
  readonly batchFinished: (batch: Batch) => Promise<void>;
  readonly step: FollowUpStep;
}

/** To be created before the connection's indexes. */
export function openCallbacks(connection: Connection, clock: Clock): Callbacks {
  const deliveries = new DeliveryStore(connection, clock);
  return {
    deliveries,
    batchFinished: callBackBatch({ deliveries, clock }),
    step: callBackJobs({ deliveries, clock }),
  };
}
