import { HPA_TOLERANCE } from './hpa.ts';

/** What the metrics API and the pod lister say of one pod. Times in milliseconds. */
export interface CpuPod {
  readonly startTime: number;
  readonly ready: boolean;
  /** When its Ready condition changed last. */
  readonly readyTransition: number;
  /** CPU in use as a share of the request, and the end of the window it is the average of; undefined: no sample. */
  readonly sample?: { readonly usage: number; readonly at: number; readonly windowMs: number };
}

export interface CpuSettings {
  /** Share of the request that is to be in use. */
  readonly target: number;
  readonly initialisationMs: number;
  readonly readinessDelayMs: number;
}

export const CPU_DEFAULTS: CpuSettings = { target: 0.8, initialisationMs: 300_000, readinessDelayMs: 30_000 };

/** `GetResourceReplicas`: undefined when there are no metrics of any ready pod, which leaves the size as it is. */
export function cpuRecommendation(
  pods: readonly CpuPod[],
  current: number,
  settings: CpuSettings,
  nowMs: number,
): number | undefined {
  const unready = pods.filter((pod) => isUnready(pod, settings, nowMs));
  const counted = pods.filter((pod) => !unready.includes(pod));
  const missing = counted.filter(({ sample }) => sample === undefined);
  const usages = counted.flatMap(({ sample }) => (sample === undefined ? [] : [sample.usage]));
  if (usages.length === 0) return undefined;

  const ratio = mean(usages) / settings.target;
  const raisesWithUnready = unready.length > 0 && ratio > 1;
  if (!raisesWithUnready && missing.length === 0) {
    return isTolerable(ratio) ? current : Math.ceil(ratio * usages.length - 1e-9);
  }
  const assumed = [...usages];
  if (missing.length > 0 && ratio !== 1) assumed.push(...missing.map(() => (ratio < 1 ? 1 : 0)));
  if (raisesWithUnready) assumed.push(...unready.map(() => 0));

  const dampened = mean(assumed) / settings.target;
  const reverses = (ratio < 1 && dampened > 1) || (ratio > 1 && dampened < 1);
  if (isTolerable(dampened) || reverses) return current;
  const replicas = Math.ceil(dampened * assumed.length - 1e-9);
  const wrongWay = (dampened < 1 && replicas > current) || (dampened > 1 && replicas < current);
  return wrongWay ? current : replicas;
}

/** `groupPods`, for CPU. A pod without a sample is missing, whatever its state. */
function isUnready(pod: CpuPod, { initialisationMs, readinessDelayMs }: CpuSettings, nowMs: number): boolean {
  if (pod.sample === undefined) return false;
  if (pod.startTime + initialisationMs > nowMs) {
    return !pod.ready || pod.sample.at < pod.readyTransition + pod.sample.windowMs;
  }
  return !pod.ready && pod.startTime + readinessDelayMs > pod.readyTransition;
}

function isTolerable(ratio: number): boolean {
  return Math.abs(1 - ratio) <= HPA_TOLERANCE;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
