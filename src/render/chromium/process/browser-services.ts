import { setTimeout as pause } from 'node:timers/promises';
import { type ProcessSample, sampleProcess } from './processes.ts';

/** How often the browser is asked for new processes in place of ended ones, and the pause in between in milliseconds. */
const TRIES = 100;
const TRY_AGAIN_MS = 20;

/** Processes that all pages of a browser share: in one they draw WebGL, in the other they fetch. */
export type Service = 'gpu' | 'network';
/** How many there are. One that has just been started, or is not seen from here, is not known. */
const SERVICES = 2;
/** The pids of such processes; a process whose pid is not known here has none. */
export type ServicePids = Readonly<Partial<Record<Service, number>>>;

/** The processes that served a browser at some moment. */
export type RunningServices = ReadonlyMap<Service, Pick<ProcessSample, 'pid' | 'startTime'>>;

/** Finds out whether one of the processes that all pages of a browser share has ended, with all that pages had in it. */
export class BrowserServices {
  readonly #find: () => Promise<ServicePids>;
  #running: RunningServices;

  /** @param find asks the browser for the pids. */
  constructor(pids: ServicePids, find: () => Promise<ServicePids>) {
    this.#running = sampled(pids);
    this.#find = find;
  }

  /** The processes that run. Waits until Chromium has started others in place of those that have ended. */
  async running(): Promise<RunningServices> {
    const tries = this.#someHaveEnded ? TRIES : 1;
    for (let i = 0; i < tries && (this.#someHaveEnded || this.#running.size < SERVICES); i += 1) {
      if (i > 0) await pause(TRY_AGAIN_MS);
      const found = sampled(await this.#find());
      // The last answer counts: a process that does not come back is not waited for again.
      if (found.size >= this.#running.size || i === TRIES - 1) this.#running = found;
    }
    return this.#running;
  }

  /** Whether a process has ended that ran `before`. One that was not known counts as running. */
  hasLost(service: Service, before: RunningServices): boolean {
    const process = before.get(service);
    return process !== undefined && hasEnded(process);
  }

  get #someHaveEnded(): boolean {
    return [...this.#running.values()].some(hasEnded);
  }
}

function hasEnded({ pid, startTime }: Pick<ProcessSample, 'pid' | 'startTime'>): boolean {
  return sampleProcess(pid)?.startTime !== startTime;
}

function sampled(pids: ServicePids): RunningServices {
  const running = new Map<Service, ProcessSample>();
  for (const [service, pid] of Object.entries(pids) as [Service, number][]) {
    const sample = sampleProcess(pid);
    if (sample !== undefined) running.set(service, sample);
  }
  return running;
}
