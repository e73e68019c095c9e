import type { Response } from 'express';

const listeners = new WeakMap<Response, (() => void)[]>();

/**
 * Calls `listener`, once, if the caller goes away before it has the whole answer. However many wait for that, the response
 * has one listener of ours: what Node adds to send a file nearly reaches the number at which it warns of a leak.
 */
export function onHangUp(response: Response, listener: () => void): void {
  if (response.destroyed) {
    listener();
    return;
  }
  const known = listeners.get(response);
  if (known !== undefined) {
    known.push(listener);
    return;
  }
  const all = [listener];
  listeners.set(response, all);
  response.once('close', () => {
    listeners.delete(response);
    if (!response.writableFinished) for (const each of all) each();
  });
}
