/**
 * The steps of a request for work before its job is written: authentication, the rate limit of the account, and the
 * reservation of a plan slot or a position together with the quota. If the job waits, its position is then confirmed.
 * Whether the whole service is full is checked against a number in memory, and not timed.
 */
type AdmissionStep = 'authenticate' | 'limit' | 'reserve' | 'confirm';

/** Called with how long each step took; and in all, once the request was admitted. */
export type ObserveAdmission = (step: AdmissionStep | 'total', seconds: number) => void;

/** Times the admission of one request; concurrent steps count once in the total, for which the caller waited. */
export class AdmissionTimer {
  readonly #observe: ObserveAdmission | undefined;
  /** Time in which at least one step was under way. */
  #seconds = 0;
  #running = 0;
  #busySince = 0;

  /** @param observe without it nothing is measured. */
  constructor(observe?: ObserveAdmission) {
    this.#observe = observe;
  }

  /** Does a step, which ends when it is rejected as well. */
  async time<T>(step: AdmissionStep, work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    if (this.#running === 0) this.#busySince = began;
    this.#running += 1;
    try {
      return await work();
    } finally {
      const ended = performance.now();
      this.#running -= 1;
      if (this.#running === 0) this.#seconds += (ended - this.#busySince) / 1000;
      this.#observe?.(step, (ended - began) / 1000);
    }
  }

  /** The request was admitted. */
  admitted(): void {
    this.#observe?.('total', this.#seconds);
  }
}
