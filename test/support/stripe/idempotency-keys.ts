import { ApiError } from './api-error.ts';

export interface Reply {
  readonly status: number;
  readonly body: object;
}

interface Kept {
  readonly at: number;
  readonly request: string;
  /** The response to the first call; concurrent calls wait for it. */
  readonly response: Promise<Reply & { readonly kept: boolean }>;
}

const KEPT_SECONDS = 24 * 3_600;

/** Runs a call once for each key, for 24 hours. Declines and errors are kept like any other response. */
export class IdempotencyKeys {
  readonly #kept = new Map<string, Kept>();

  async once(
    key: string,
    request: string,
    now: number,
    run: () => Promise<Reply & { readonly kept: boolean }>,
  ): Promise<Reply & { readonly replayed: boolean }> {
    const known = this.#kept.get(key);
    if (known !== undefined && known.at + KEPT_SECONDS > now) {
      if (known.request !== request) {
        const message = 'Keys for idempotent requests can only be used with the same parameters.';
        throw new ApiError(400, { type: 'idempotency_error', message }, false);
      }
      return { ...(await known.response), replayed: true };
    }
    const response = run();
    const made = { at: now, request, response };
    this.#kept.set(key, made);
    const { kept, ...reported } = await response;
    if (!kept && this.#kept.get(key) === made) this.#kept.delete(key);
    return { ...reported, replayed: false };
  }
}
