import type { Outcome, TraceOutcome } from './simulate.ts';

/** What the pool's sizing is to reach on a trace, and what it did. */
export interface Target {
  readonly trace: string;
  readonly asks: string;
  readonly met: boolean;
  readonly figures: string;
}

const KEDA_TUNED = ['KEDA on lag, tuned', 'KEDA on lag of pointers, tuned'];
const KEDA_ON_DEMAND = 'KEDA on demand';
/** Two waits within a tenth of a second are the same wait: a reading is older than that. */
const SAME_WAIT_MS = 100;

export function targetsOf({ trace, outcomes }: TraceOutcome): Target[] {
  const platen = named(outcomes, 'Platen');
  const oracle = named(outcomes, 'Oracle');
  const onDemand = named(outcomes, KEDA_ON_DEMAND);
  return [
    ...(trace.burst ? againstLag(trace.name, platen, outcomes) : []),
    {
      trace: trace.name,
      asks: 'p95 wait no longer than of KEDA on demand',
      met: platen.wait.p95 <= onDemand.wait.p95 + SAME_WAIT_MS,
      figures: `${seconds(platen.wait.p95)} against ${seconds(onDemand.wait.p95)}, at ${ratio(platen, onDemand)} × its pod-hours`,
    },
    {
      trace: trace.name,
      asks: "pod-hours within 1.3 × of the oracle's",
      met: platen.podHours <= 1.3 * oracle.podHours,
      figures: `${ratio(platen, oracle)} ×`,
    },
  ];
}

/** The better of the tuned scalers on lag is the one with the shorter wait. */
function againstLag(trace: string, platen: Outcome, outcomes: readonly Outcome[]): Target[] {
  const [best] = KEDA_TUNED.map((name) => named(outcomes, name)).sort((a, b) => a.wait.p95 - b.wait.p95);
  if (best === undefined) return [];
  return [
    {
      trace,
      asks: 'p95 wait no longer than of the best of KEDA on lag (tuned)',
      met: platen.wait.p95 <= best.wait.p95 + SAME_WAIT_MS,
      figures: `${seconds(platen.wait.p95)} against ${seconds(best.wait.p95)}`,
    },
    {
      trace,
      asks: 'at no more than 0.7 × its pod-hours',
      met: platen.podHours <= 0.7 * best.podHours,
      figures: `${ratio(platen, best)} ×`,
    },
  ];
}

export function named(outcomes: readonly Outcome[], name: string): Outcome {
  const outcome = outcomes.find(({ scaler }) => scaler === name);
  if (outcome === undefined) throw new Error(`no outcome of ${name}`);
  return outcome;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function ratio(its: Outcome, other: Outcome): string {
  return (its.podHours / other.podHours).toFixed(2);
}
