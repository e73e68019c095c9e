/** What is called in each period, by the period in milliseconds. */
const beats = new Map<number, { readonly works: Set<() => void>; readonly timer: NodeJS.Timeout }>();

/**
 * Calls `work` once in each period; the timer alone does not keep the process alive. All that has the same period in this
 * process is called at the same moment: what a process at rest uses is how often it wakes (decision 379).
 *
 * @param work must not throw.
 * @returns a function that ends the calls.
 */
export function every(periodMs: number, work: () => void): () => void {
  // One of its own, so that the same function can be called for two.
  const own = () => work();
  let beat = beats.get(periodMs);
  if (beat === undefined) {
    const works = new Set<() => void>();
    const timer = setInterval(() => {
      for (const each of works) each();
    }, periodMs).unref();
    beat = { works, timer };
    beats.set(periodMs, beat);
  }
  const { works, timer } = beat;
  works.add(own);
  return () => {
    works.delete(own);
    if (works.size > 0) return;
    clearInterval(timer);
    if (beats.get(periodMs)?.timer === timer) beats.delete(periodMs);
  };
}
