import { unlessAborted } from './unless-aborted.ts';

/** The passage of time. Passed in wherever code waits, so that tests can control it. */
export interface Timers {
  /** Milliseconds on a monotonic clock; only differences mean anything. */
  nowMs(): number;
  /** Calls back once, after `ms` milliseconds. @returns a function that cancels the call. */
  after(ms: number, callback: () => void): () => void;
}

/** In milliseconds: `setTimeout` fires at once for a longer time. */
const LONGEST_MS = 2 ** 31 - 1;

export const systemTimers: Timers = {
  nowMs: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, Math.min(ms, LONGEST_MS));
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms` milliseconds. @throws the signal's reason as soon as it aborts. */
export async function pause(timers: Timers, ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = timers.after(ms, resolve);
  try {
    await unlessAborted(signal, promise);
  } finally {
    cancel();
  }
}
