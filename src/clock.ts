/** Where the time comes from: passed in wherever time decides, so that a test can decide the time. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };
