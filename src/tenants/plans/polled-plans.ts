import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../infra/telemetry/logger.ts';
import { HeldPlans, type PlanSet } from './plan-source.ts';

/** Plans whose origin does not report changes, so that it is polled. */
export abstract class PolledPlans extends HeldPlans {
  readonly #everyMs: number;
  #polling: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;

  /** @param everyMs the interval between polls, in milliseconds. */
  constructor(set: PlanSet, everyMs: number, logger: Logger) {
    super(set, logger);
    this.#everyMs = everyMs;
  }

  override start(): void {
    if (this.#polling !== undefined) return;
    const stop = new AbortController();
    this.#polling = { stop, ended: this.#poll(stop.signal) };
  }

  override async stop(): Promise<void> {
    this.#polling?.stop.abort();
    await this.#polling?.ended;
    this.#polling = undefined;
  }

  /** Polls once, and replaces the plans if they have changed. Never rejects. */
  protected abstract check(): Promise<void>;

  async #poll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(this.#everyMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted) await this.check();
    }
  }
}
