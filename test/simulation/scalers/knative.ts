/** Knative's KPA (`pkg/autoscaler/scaling/autoscaler.go`) with the defaults of `config-autoscaler`. */
export interface KpaSettings {
  /** Concurrency that one pod is to have on average. */
  readonly target: number;
  readonly stableWindowMs: number;
  readonly panicThreshold: number;
  readonly maxScaleUpRate: number;
  readonly maxScaleDownRate: number;
  readonly scaleToZeroGraceMs: number;
}

export const KPA_TICK_MS = 2000;
export const KPA_PANIC_WINDOW_MS = 6000;

export function kpaDefaults(containerConcurrency: number): KpaSettings {
  return {
    target: containerConcurrency * 0.7,
    stableWindowMs: 60_000,
    panicThreshold: 2,
    maxScaleUpRate: 1000,
    maxScaleDownRate: 2,
    scaleToZeroGraceMs: 30_000,
  };
}

export class KpaDecider {
  readonly #settings: KpaSettings;
  #panicAt: number | undefined;
  #maxPanicPods: number;
  #zeroSince: number | undefined;

  /** Starts in panic when more than one pod is there, so as not to scale down before it has metrics. */
  constructor(settings: KpaSettings, readyPods = 1, nowMs = 0) {
    this.#settings = settings;
    this.#panicAt = readyPods > 1 ? nowMs : undefined;
    this.#maxPanicPods = readyPods;
  }

  get panics(): boolean {
    return this.#panicAt !== undefined;
  }

  /** `Scale`: the pods wanted, from the average concurrency of the two windows. */
  desired(stable: number, panic: number, readyPods: number, nowMs: number): number {
    const { target, maxScaleUpRate, maxScaleDownRate, panicThreshold, stableWindowMs } = this.#settings;
    const ready = Math.max(1, readyPods);
    const most = Math.ceil(maxScaleUpRate * ready);
    const least = Math.floor(ready / maxScaleDownRate);
    const bounded = (pods: number) => Math.min(Math.max(pods, least), most);
    const panicPods = Math.ceil(panic / target - 1e-9);
    const stableWanted = bounded(Math.ceil(stable / target - 1e-9));

    if (panicPods / ready >= panicThreshold) {
      this.#panicAt = nowMs;
    } else if (this.#panicAt !== undefined && this.#panicAt + stableWindowMs < nowMs) {
      this.#panicAt = undefined;
      this.#maxPanicPods = 0;
    }
    if (this.#panicAt === undefined) return stableWanted;
    this.#maxPanicPods = Math.max(this.#maxPanicPods, stableWanted, bounded(panicPods));
    return this.#maxPanicPods;
  }

  /** Zero is only gone to after the grace. */
  afterGrace(desired: number, nowMs: number): number {
    if (desired > 0) {
      this.#zeroSince = undefined;
      return desired;
    }
    this.#zeroSince ??= nowMs;
    return nowMs - this.#zeroSince >= this.#settings.scaleToZeroGraceMs ? 0 : 1;
  }
}

/** Average over the last so many milliseconds of what is noted at every tick. */
export class WindowAverage {
  readonly #windowMs: number;
  #samples: { at: number; value: number }[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  note(value: number, nowMs: number): number {
    this.#samples.push({ at: nowMs, value });
    this.#samples = this.#samples.filter(({ at }) => at > nowMs - this.#windowMs);
    return this.#samples.reduce((sum, sample) => sum + sample.value, 0) / this.#samples.length;
  }
}
