import type { Clock } from '../../src/infra/clock.ts';

/** A clock that stands still unless it is set forward, so that neither chance nor a slow machine changes anything. */
export class StillClock implements Clock {
  #at: number;
  constructor(at = Date.parse('2027-01-31T12:00:00Z')) {
    this.#at = at;
  }
  now(): Date {
    return new Date(this.#at);
  }
  pass(ms: number): void {
    this.#at += ms;
  }
}
