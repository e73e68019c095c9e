/**
 * What a request for work goes through before its job is written down: who asks, the rate of the account, and the taking
 * of a plan slot or a place together with the quota; and of one that waits, the confirmation of its place. Whether the whole service is full is a look at a number in memory,
 * and not timed.
 */
export type AdmissionStep = 'authenticate' | 'limit' | 'reserve' | 'confirm';

/** Told how long each step took; and in all, once the request was let in. */
export type ObserveAdmission = (step: AdmissionStep | 'total', seconds: number) => void;

/**
 * Times what one request spends on being let in. Steps that run beside each other count once in the total, which is the time that the caller waited for any of them.
 */
export class AdmissionTimer {
  readonly #observe: ObserveAdmission | undefined;
  readonly #standAside: () => void;
  /** Time in which at least one step was under way. */
  #seconds = 0;
  #running = 0;
  #busySince = 0;

  /**
   * @param observe without it nothing is measured.
   * @param standAside called when the request has to wait for something that is none of our work, perhaps for long: what it
   * keeps others from is given back.
   */
  constructor(observe?: ObserveAdmission, standAside: () => void = () => undefined) {
    this.#observe = observe;
    this.#standAside = standAside;
  }

  /** The request waits for somebody outside; calling it again changes nothing. */
  standAside(): void {
    this.#standAside();
  }

  /** Does a step, which ends when it is refused as well. */
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

  /** The request was let in. */
  admitted(): void {
    this.#observe?.('total', this.#seconds);
  }
}
