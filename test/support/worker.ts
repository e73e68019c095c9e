import { pino } from 'pino';
import { WorkerSlots } from '../../src/infra/scheduling/worker-slots.ts';
import { DEFAULT_POOL } from '../../src/tenants/plans/names.ts';
import { Worker } from '../../src/worker/worker.ts';
import type { Domain } from './domain.ts';
import { sharedTemplateEngine } from './template-engine.ts';

type WorkerDeps = ConstructorParameters<typeof Worker>[0];

/** Of a worker whose renders ask for none. */
export const NO_SEALS: WorkerDeps['seals'] = {
  seal: () => Promise.reject(new Error('This worker seals nothing.')),
};

/** A worker of a domain with as many slots, which retries soon; `own` has what it renders with, and what is otherwise. */
export function workerOf(
  domain: Domain,
  slots: number,
  own: Pick<WorkerDeps, 'renderer' | 'outputs' | 'owner'> & Partial<WorkerDeps>,
): Worker {
  return new Worker({
    ...domain,
    templates: sharedTemplateEngine(),
    seals: NO_SEALS,
    pool: DEFAULT_POOL,
    slots: new WorkerSlots(slots),
    random: () => 1,
    retryBaseMs: 100,
    logger: pino({ level: 'silent' }),
    observe: { claimed() {}, rendered() {}, ended() {}, retried() {}, lost() {} },
    ...own,
  });
}
