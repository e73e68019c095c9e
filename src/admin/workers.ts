import { PlatenError } from '../infra/errors/registry.ts';
import type { DoneBy } from '../tenants/audit/audit-log.ts';
import type { WorkerRecord } from '../work/pools/worker-registry.ts';
import type { AdminCore } from './admin-core.ts';

/** A worker as operators see it, and what it renders. */
export interface ShownWorker {
  readonly id: string;
  readonly pool: string;
  readonly pod: string | null;
  readonly node: string | null;
  /** `unseen`: it has not reported for 10 s. `unregistered`: it holds jobs and does not report, as standalone does not. */
  readonly state: WorkerRecord['state'] | 'unseen' | 'unregistered';
  readonly draining: boolean;
  readonly slots: number | null;
  readonly busy: number;
  readonly startedAt: string | null;
  readonly browser: string | null;
  readonly sandbox: string | null;
  /** The jobs that it holds, and since when. */
  readonly jobs: readonly {
    readonly id: string;
    readonly accountId: string;
    readonly class: string;
    readonly startedAt: string | null;
  }[];
}

/** Shows the workers and drains them, for the operators of an installation. */
export class WorkerAdmin {
  readonly #core: AdminCore;

  constructor(core: AdminCore) {
    this.#core = core;
  }

  /** The workers, by pool and age. */
  async list(): Promise<ShownWorker[]> {
    const { registry, ledger, store } = this.#core;
    const active = await ledger.active();
    const ids = active.flatMap(({ holders = {} }) => Object.keys(holders));
    const [workers, jobs] = await Promise.all([registry.list(), store.live.whereabouts(ids)]);
    const held = Map.groupBy(
      [...jobs].filter(([, { state }]) => state === 'processing'),
      ([, { owner }]) => owner ?? '',
    );
    const jobsOf = (owner: string): ShownWorker['jobs'] =>
      (held.get(owner) ?? []).map(([id, job]) => ({
        id,
        accountId: job.accountId,
        class: job.class,
        startedAt: job.startedAt?.toISOString() ?? null,
      }));
    const known = new Set(workers.map(({ _id }) => _id));
    const others = [...held].filter(([owner]) => !known.has(owner));
    return [
      ...workers.map((worker) => ({
        id: worker._id,
        pool: worker.pool,
        pod: worker.pod,
        node: worker.node,
        state: registry.isSeen(worker) ? worker.state : ('unseen' as const),
        draining: worker.drainRequested ?? false,
        slots: worker.slots,
        busy: worker.busy,
        startedAt: worker.startedAt.toISOString(),
        browser: worker.browser,
        sandbox: worker.sandbox,
        jobs: jobsOf(worker._id),
      })),
      ...others.map(([id, jobs]) => ({
        ...{
          id,
          pool: jobs[0]![1].pool,
          pod: null,
          node: null,
          state: 'unregistered' as const,
          draining: false,
        },
        ...{
          slots: null,
          busy: jobs.length,
          startedAt: null,
          browser: null,
          sandbox: null,
          jobs: jobsOf(id),
        },
      })),
    ].sort((a, b) => order(a).localeCompare(order(b)));
  }

  /** Lets a worker claim nothing, or claim again, within 3 s; its jobs end as usual. @throws PlatenError NOT_FOUND */
  async drain(id: string, drain: boolean, by: DoneBy): Promise<void> {
    const { registry, audit } = this.#core;
    if (!(await registry.requestDrain(id, drain)))
      throw new PlatenError('NOT_FOUND', `There is no worker ${id} that reports.`);
    await audit.record({
      accountId: null,
      action: drain ? 'worker.drained' : 'worker.resumed',
      ...by,
      targetId: id,
    });
  }
}

function order({ pool, startedAt, id }: ShownWorker): string {
  return `${pool} ${startedAt} ${id}`;
}
