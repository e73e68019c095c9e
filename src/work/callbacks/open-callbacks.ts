import type { Core } from '../../infra/core.ts';
import { DeliveryStore } from './delivery-store.ts';
import { callBackBatch, callBackJobs } from './schedule-callbacks.ts';
import { SigningKeys } from './signing-keys.ts';
import { uploadJobs } from './uploads.ts';

/** To be created before the connection's indexes. */
export function openCallbacks({ connection, clock }: Pick<Core, 'connection' | 'clock'>) {
  const deliveries = new DeliveryStore(connection, clock);
  const uploads = new DeliveryStore(connection, clock, undefined, 'uploads');
  return {
    deliveries,
    /** PDFs that are put to addresses of their accounts. */
    uploads,
    keys: new SigningKeys(connection, clock),
    batchFinished: callBackBatch({ deliveries, clock }),
    step: callBackJobs({ deliveries, clock }),
    uploadStep: uploadJobs({ uploads, clock }),
  };
}

/** The parts of callbacks that every role needs: a process that ends a job schedules its callback. */
export type Callbacks = ReturnType<typeof openCallbacks>;
