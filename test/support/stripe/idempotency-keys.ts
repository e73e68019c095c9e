import { ApiFault } from './api-fault.ts';

export interface Answer {
  readonly status: number;
  readonly body: object;
}

interface Kept {
  readonly at: number;
  readonly request: string;
  /** What the first call is answered with; whoever comes meanwhile waits for it. */
  readonly answer: Promise<Answer & { readonly kept: boolean }>;
}

const KEPT_SECONDS = 24 * 3_600;

/** Runs a call once for each key, for 24 hours. Declines and faults are kept like any other answer. */
export class IdempotencyKeys {
  readonly #kept = new Map<string, Kept>();

  async once(
    key: string,
    request: string,
    now: number,
    run: () => Promise<Answer & { readonly kept: boolean }>,
  ): Promise<Answer & { readonly replayed: boolean }> {
    const known = this.#kept.get(key);
    if (known !== undefined && known.at + KEPT_SECONDS > now) {
      if (known.request !== request) {
        const message = 'Keys for idempotent requests can only be used with the same parameters.';
        throw new ApiFault(400, { type: 'idempotency_error', message }, false);
      }
      return { ...(await known.answer), replayed: true };
    }
    const answer = run();
    const made = { at: now, request, answer };
    this.#kept.set(key, made);
    const { kept, ...told } = await answer;
    if (!kept && this.#kept.get(key) === made) this.#kept.delete(key);
    return { ...told, replayed: false };
  }
}
