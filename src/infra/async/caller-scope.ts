import { AsyncLocalStorage } from 'node:async_hooks';

interface CallerScope {
  /** Whether the request has not ended yet. */
  open: boolean;
}

const scopes = new AsyncLocalStorage<CallerScope>();

/**
 * Runs the work of a request, during which `callerWaits` is true, also in whatever the work calls. So a dependency that
 * has stopped responding ends the wait of a request early, while renders, sweeps and deliveries, which nobody waits for,
 * wait until it responds again.
 *
 * The context of the calls carries this, because a request and a sweep go through the same stores. It costs about a
 * microsecond for each request: Node keeps such a context for every promise, whether it is used or not.
 */
export async function forCaller<T>(work: () => Promise<T>): Promise<T> {
  const scope = { open: true };
  try {
    return await scopes.run(scope, work);
  } finally {
    // What the request has left behind, such as a timer, works for no caller.
    scope.open = false;
  }
}

/** Runs work that a request starts, but that its caller does not wait for. */
export function withoutCaller<T>(work: () => T): T {
  return scopes.exit(work);
}

/** Whether the present work is done for a request whose caller waits. */
export function callerWaits(): boolean {
  return scopes.getStore()?.open === true;
}
