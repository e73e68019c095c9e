/** Something took longer than it was given. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/**
 * What `work` settles with, unless that takes longer than `ms`. The work itself goes on; what it settles with afterwards
 * is ignored, a rejection too.
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
