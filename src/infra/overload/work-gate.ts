import { every } from '../async/every.ts';
import type { Clock } from '../clock.ts';
import { PlatenError } from '../errors/registry.ts';
import type { Logger } from '../telemetry/logger.ts';
import { STORAGE_RETRY_S } from './change-gate.ts';
import { LoadShedder } from './load-shedder.ts';

const COUNT_EVERY_MS = 1000;
/** Of this many counts one is made while nobody asks. */
const COUNTS_AT_REST = 10;

interface WorkGateDeps {
  /** Jobs of all accounts that wait or run, at which new jobs are rejected. */
  readonly maxLiveJobs: number;
  /** The percentage of `maxLiveJobs` that is kept for plans with a price. */
  readonly keptForPaidPercent: number;
  readonly countLiveJobs: () => Promise<number>;
  /** Why nothing more can be stored at present; undefined when it can. */
  readonly storageProblem: () => string | undefined;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'error'>;
}

/**
 * Rejects work while the service has its maximum of live jobs, or no storage for more. Jobs are counted once a second while
 * work is asked for, and every ten seconds otherwise.
 */
export class WorkGate {
  readonly #deps: WorkGateDeps;
  readonly #shedder: LoadShedder;
  /** Counts no more. */
  readonly stop: () => void;
  #storageProblemLogged = false;
  #counting = false;
  /** Whether work was asked for since the last count, and how many were left out since then. */
  #asked = true;
  #leftOut = 0;

  constructor(deps: WorkGateDeps) {
    this.#deps = deps;
    const { maxLiveJobs, keptForPaidPercent } = deps;
    const keptForPaid = Math.floor((maxLiveJobs * keptForPaidPercent) / 100);
    this.#shedder = new LoadShedder(maxLiveJobs, maxLiveJobs - keptForPaid);
    this.stop = every(COUNT_EVERY_MS, () => this.#check());
  }

  /** The error for new work of a plan; undefined while there is room. */
  rejection({ priceCentsPerMonth }: { readonly priceCentsPerMonth: number }): PlatenError | undefined {
    this.#asked = true;
    const overloaded = this.#shedder.rejection(priceCentsPerMonth > 0);
    if (overloaded !== undefined || this.#deps.storageProblem() === undefined) return overloaded;
    // The details are for the operator of the service only, and are shown at /readyz.
    return new PlatenError('UNAVAILABLE', 'The service has no room to keep more work at the moment.', {
      retryAfterSeconds: STORAGE_RETRY_S,
    });
  }

  #check(): void {
    const { countLiveJobs, clock } = this.#deps;
    this.#logStorage();
    // One at a time, so that counts do not pile up while the database does not respond.
    if (this.#counting) return;
    if (!this.#asked && ++this.#leftOut < COUNTS_AT_REST) return;
    this.#asked = false;
    this.#leftOut = 0;
    this.#counting = true;
    countLiveJobs()
      .then(
        (count) => this.#shedder.observe(count, clock.now()),
        // The database is unreachable: requests that need it fail anyway.
        () => undefined,
      )
      .finally(() => {
        this.#counting = false;
      });
  }

  /** Logs when new work begins to be rejected for lack of storage, and when it no longer is. */
  #logStorage(): void {
    const { storageProblem, logger } = this.#deps;
    const problem = storageProblem();
    if ((problem !== undefined) === this.#storageProblemLogged) return;
    this.#storageProblemLogged = problem !== undefined;
    if (problem !== undefined)
      logger.error({ problem }, 'new work is rejected for lack of storage; accepted work continues');
    else logger.info('new work is accepted again: there is storage');
  }
}
