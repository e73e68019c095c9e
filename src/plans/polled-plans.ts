import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../telemetry/logger.ts';
import { HeldPlans, type PlanSet } from './plan-source.ts';

/** Plans whose origin tells nobody of its changes: it is looked at again and again. */
export abstract class PolledPlans extends HeldPlans {
  readonly #everyMs: number;
  #watching: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;

  /** @param everyMs between two looks, in milliseconds. */
  constructor(set: PlanSet, everyMs: number, logger: Logger) {
    super(set, logger);
    this.#everyMs = everyMs;
  }

  override start(): void {
    if (this.#watching !== undefined) return;
    const stop = new AbortController();
    this.#watching = { stop, ended: this.#watch(stop.signal) };
  }

  override async stop(): Promise<void> {
    this.#watching?.stop.abort();
    await this.#watching?.ended;
    this.#watching = undefined;
  }

  /** Looks once, and replaces the plans if they have changed. Never rejects. */
  protected abstract look(): Promise<void>;

  async #watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(this.#everyMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted) await this.look();
    }
  }
}
