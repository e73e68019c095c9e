/**
 * What a request for work goes through before its job is written down: who asks, the rate of the account, the month's
 * quota, a plan slot, and where none is free whether one more job may wait. Whether the whole service is full is a look
 * at a number in memory, and not timed.
 */
export type AdmissionStep = 'authenticate' | 'limit' | 'quota' | 'slot' | 'queue';

/** Told how long each step took; and in all, once the request was let in. */
export type ObserveAdmission = (step: AdmissionStep | 'total', seconds: number) => void;

/**
 * Times what one request spends on being let in. Steps that run beside others (the slot is taken while the quota is
 * reserved and the job's input is written) count in full, so the total is never less than what the caller waited.
 */
export class AdmissionTimer {
  readonly #observe: ObserveAdmission | undefined;
  #seconds = 0;

  /** @param observe without it nothing is measured. */
  constructor(observe?: ObserveAdmission) {
    this.#observe = observe;
  }

  /** Does a step, which ends when it is refused as well. */
  async time<T>(step: AdmissionStep, work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    try {
      return await work();
    } finally {
      const seconds = (performance.now() - began) / 1000;
      this.#seconds += seconds;
      this.#observe?.(step, seconds);
    }
  }

  /** The request was let in. */
  admitted(): void {
    this.#observe?.('total', this.#seconds);
  }
}
