import { HEADROOM_BETA } from '../../src/kubernetes/scaling/want.ts';
import { POOL } from './pool.ts';
import type { TraceOutcome } from './simulate.ts';
import { markdownTable, OUTCOME_HEAD, outcomeRows, TARGET_HEAD, targetRows, variantCell } from './tables.ts';
import { named, targetsOf } from './targets.ts';
import { TENANTS } from './traces.ts';

/** `docs/simulation/README.md`. */
export function resultsPage(results: readonly TraceOutcome[], seed: number): string {
  return [
    '<!-- Made by `make simulate`; do not edit. -->',
    '# Simulation of the autoscaler: results',
    `Made with \`SEED=${seed}\`; another seed (\`make simulate SEED=2\`) prints its results and writes nothing. What is simulated and how, and what follows from it, stands in [scaling.md](../scaling.md).`,
    settings(),
    '## Targets',
    'Waits within 0.1 s of each other count as the same.',
    markdownTable(TARGET_HEAD, targetRows(results.flatMap(targetsOf))),
    '## Trace by trace',
    '_Wait_ is from acceptance to the start of the render, with the time that a job waits for a slot of its own plan; _for a worker_ is the part of it after that, which is all that more workers can shorten. A job that has not started when the trace ends counts with its wait until then.',
    ...results.flatMap(traceSection),
    '## Other settings of Platen',
    'In each cell: p95 of the wait / p99 of the wait for a worker (s) / pod-hours by those of the oracle / scale actions.',
    variantsTable(results),
  ]
    .join('\n\n')
    .concat('\n');
}

function settings(): string {
  const { scaleDown } = POOL;
  const lines = [
    `- ${TENANTS.toLocaleString('en')} tenants: 1 % business, 4 % professional, 15 % starter, 80 % free, with the slots of the built-in plans. A hundredth of them orders a fifth of the work.`,
    '- Service times: log-normal, median 1.3 s, σ 0.9, bounded to 0.15 to 30 s; 1.95 s on average.',
    `- Workers of ${POOL.slotsPerWorker} slots, at most ${POOL.maxReplicas}. All scalers begin with the size that the oracle has.`,
    '- A pod is up 15 to 25 s after it was asked for (other delays where the trace says so). A pod that the ReplicaSet removes finishes what it renders, and counts as a pod until then.',
    `- Platen: target utilisation ${POOL.targetUtilisation * 100} %, headroom the larger of ${POOL.headroomSlots} slots and ${HEADROOM_BETA} × √demand, window ${scaleDown.stabilisationSeconds} s, ${scaleDown.maxPercent} % in ${scaleDown.periodSeconds} s, ${POOL.maxPendingPods} pods on their way, minimum ${POOL.minReplicas}; it decides every 2 s on a reading that is 2 s old.`,
    `- HPA on demand: external metric per pod, target ${POOL.slotsPerWorker}; HPA on CPU: target 80 %, a worker whose slots are all in use uses what it requests. Both by default: every 15 s, tolerance 0.1, up by 4 pods or 100 % in 15 s, down to the highest recommendation of 300 s, minimum 1.`,
    '- KEDA: polling 30 s, cooldown 300 s, lag threshold 10, replicas up to the 12 partitions; _tuned_: polling 5 s, threshold = slots, cooldown and stabilisation 60 s, idle consumers allowed; _on demand_: tuned, on `platen_pool_demand_slots`, with the slots of a worker as its threshold, or 80 % of them. _Lag_ is every accepted job that has not ended, as in a service that publishes at once and commits after the work; _lag of pointers_ is what Platen has published and nobody has claimed.',
    '- Knative KPA: every 2 s, windows 60 s and 6 s, panic at 2.0 ×, target 0.7 × slots, at most × 1000 up and ÷ 2 down, grace to zero 30 s, on the admissible demand.',
    '- Square root: slots = R + β √R, R = arrivals (smoothed over 60 s) × mean service time.',
    '- Oracle: knows the trace; always has just the pods that the work needs, ordered as long ahead as they need to start.',
  ];
  return lines.join('\n');
}

function traceSection(result: TraceOutcome): string[] {
  const { trace } = result;
  return [
    `### ${trace.name}`,
    `${trace.about} ${trace.jobs.arrival.length.toLocaleString('en')} jobs.`,
    `![Pods and waits over the time of the trace](${trace.name}.svg)`,
    markdownTable(OUTCOME_HEAD, outcomeRows(result)),
  ];
}

function variantsTable(results: readonly TraceOutcome[]): string {
  const names = results[0]?.others.map(({ scaler }) => scaler) ?? [];
  const cell = ({ outcomes, others }: TraceOutcome, name: string) =>
    variantCell(named(others, name), named(outcomes, 'Oracle'));
  return markdownTable(
    ['Setting', ...results.map(({ trace }) => trace.name)],
    names.map((name) => [name, ...results.map((result) => cell(result, name))]),
  );
}
