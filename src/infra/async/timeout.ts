/** Work took longer than its time limit. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/**
 * The result of `work`, unless `work` takes longer than `ms`. The work is not stopped; its later result or error is
 * ignored.
 *
 * @param what names the work in the error.
 * @throws TimeoutError after `ms` milliseconds.
 */
export async function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new TimeoutError(`${what} took longer than ${ms} ms`)), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
