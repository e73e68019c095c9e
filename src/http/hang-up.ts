import type { Response } from 'express';

/** Calls `listener`, once, if the caller goes away before it has the whole answer. */
export function onHangUp(response: Response, listener: () => void): void {
  if (response.destroyed) listener();
  else response.once('close', () => !response.writableFinished && listener());
}
