import type { Response } from 'express';

const listeners = new WeakMap<Response, (() => void)[]>();

/**
 * Calls `listener` once if the caller disconnects before it has received the whole response. All listeners share one
 * `close` listener of the response: with the listeners that Node adds to send a file, more would reach Node's warning
 * of a leak.
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
