import { type AccountFilter, FairQueue, type Permit } from './fair-queue.ts';

const MAX_PROCESSES = 8;

/** Processes of a worker's sandbox: one per `slotsPerProcess` slots, and one for quick calls; 8 at most. */
export function sandboxProcesses(slots: number, slotsPerProcess: number): number {
  return Math.min(MAX_PROCESSES, 1 + Math.ceil(slots / slotsPerProcess));
}

/** The right to use a process, until it is released. */
interface ProcessPermit<P> {
  readonly process: P;
  /** Resolves when the call must end because others wait: its permit is released, and it needs a new one. */
  readonly preempted: Promise<void>;
  /** Releasing it again changes nothing. */
  release(): void;
}

interface SandboxQueueOptions<P> {
  readonly processes: number;
  /** A call that takes longer is slow, in milliseconds. */
  readonly sliceMs: number;
  /** The number of idle processes. */
  readonly idle: () => number;
  /** Takes an idle process. */
  readonly take: () => P;
  readonly starting: () => number;
}

interface Running<P> extends ProcessPermit<P> {
  readonly permit: Permit;
  slow: boolean;
  /** Preempts the call when it is slow in the process kept for quick ones. Absent when it may not be. */
  readonly preempt: (() => void) | undefined;
}

/**
 * The queue for calls of templates and of the finisher, which may never end by themselves. One process is kept from
 * slow accounts; a call in that process that proves to be slow is preempted when a quick account waits.
 */
export class SandboxQueue<P> extends FairQueue {
  readonly #options: SandboxQueueOptions<P>;
  readonly #running = new Set<Running<P>>();

  constructor(options: SandboxQueueOptions<P>) {
    super({ usage: { slowMs: options.sliceMs, newcomerMs: options.sliceMs } });
    this.#options = options;
  }

  protected override get capacity(): number {
    return this.taken + this.#options.idle();
  }

  protected override eligible(): readonly AccountFilter[] {
    const slowMayStart = this.#slow < Math.max(1, this.#options.processes - 1);
    return [(account) => slowMayStart || !this.usage.isSlow(account)];
  }

  /** @throws the signal's reason when it aborts first; the reason of `rejectWaiting`. */
  async acquireProcess(
    account: string,
    mayPreempt: boolean,
    signal?: AbortSignal,
  ): Promise<ProcessPermit<P>> {
    let running: Running<P> | undefined;
    const onGrant = (permit: Permit) => {
      running = this.#start(permit, mayPreempt);
    };
    const granted = this.acquire({ account, onGrant }, signal);
    this.#preemptOne();
    await granted;
    return running!;
  }

  get #slow(): number {
    return [...this.#running].filter(({ slow }) => slow).length;
  }

  #start(permit: Permit, mayPreempt: boolean): Running<P> {
    const wasSlow = this.usage.isSlow(permit.account);
    const { promise: preempted, resolve } = Promise.withResolvers<void>();
    const sliceEnds = () => {
      running.slow = true;
      this.#preemptOne();
    };
    const timer = setTimeout(sliceEnds, this.#options.sliceMs + 1).unref();
    const running: Running<P> = {
      permit,
      process: this.#options.take(),
      preempted,
      preempt: mayPreempt && !wasSlow ? resolve : undefined,
      slow: wasSlow,
      release: () => {
        clearTimeout(timer);
        this.#running.delete(running);
        permit.release();
      },
    };
    this.#running.add(running);
    return running;
  }

  /** Preempts the latest slow call when slow calls use every process and a quick account waits. */
  #preemptOne(): void {
    const { processes, starting } = this.#options;
    if (this.#slow < processes || starting() > 0) return;
    const { usage, waitingAccounts } = this;
    if ([...waitingAccounts].every((account) => usage.isSlow(account))) return;
    const last = [...this.#running].findLast(({ slow, preempt }) => slow && preempt !== undefined);
    last?.release();
    last?.preempt?.();
  }
}
