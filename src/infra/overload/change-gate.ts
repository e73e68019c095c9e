import { PlatenError } from '../errors/registry.ts';

/** In seconds. */
export const STORAGE_RETRY_S = 10;

interface ChangeGateDeps {
  /** Why no change can be kept at present; undefined when it can. */
  readonly problem: () => string | undefined;
  /** Resolves when everything that was changed before would be there after a crash. @throws when it cannot be written. */
  readonly flush: () => Promise<void>;
}

/**
 * Keeps changes from being acknowledged that a crash would take back: they are rejected while there is no room for more,
 * and acknowledged when they are written.
 */
export class ChangeGate {
  readonly #deps: ChangeGateDeps;

  constructor(deps: ChangeGateDeps) {
    this.#deps = deps;
  }

  /** The error for a change; undefined while there is room. The details are for the operator, and are shown at /readyz. */
  rejection(): PlatenError | undefined {
    if (this.#deps.problem() === undefined) return undefined;
    return withoutRoom('The service has no room to keep changes at the moment.');
  }

  /** Resolves when everything that was changed before is written. @throws PlatenError UNAVAILABLE when it is not. */
  async confirm(): Promise<void> {
    try {
      await this.#deps.flush();
    } catch (error) {
      throw withoutRoom('It is not certain that the service can keep this change.', error);
    }
  }
}

function withoutRoom(message: string, cause?: unknown): PlatenError {
  return new PlatenError('UNAVAILABLE', message, { retryAfterSeconds: STORAGE_RETRY_S, cause });
}
