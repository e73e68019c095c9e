import { seeded } from '../chaos/random.ts';
import { Cluster } from './cluster.ts';
import { EventQueue } from './event-queue.ts';
import { POOL } from './pool.ts';
import { baselines } from './scalers/baselines.ts';
import { idealDemand, Oracle } from './scalers/oracle.ts';
import { Platen } from './scalers/platen.ts';
import type { Scaler, ScalerOptions } from './scalers/scaler.ts';
import type { Trace } from './traces.ts';

/** Points of a curve in the plots. */
const SAMPLES = 320;

/** What came of a trace under one scaler; times in milliseconds. */
export interface Outcome {
  readonly scaler: string;
  /** From acceptance to the render's start: what a caller waits. */
  readonly wait: Percentiles;
  /** From the slot of the plan to the render's start: the part of it that more workers shorten. */
  readonly workerWait: Percentiles;
  readonly podHours: number;
  readonly scaleActions: number;
  /** Jobs that had not started when the trace ended. */
  readonly unstarted: number;
  /** Pods that cost anything, at even moments. */
  readonly pods: readonly number[];
  /** p95 of the wait for a worker of the jobs that started in each stretch between them. */
  readonly waits: readonly number[];
}

export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export interface TraceOutcome {
  readonly trace: Trace;
  /** Slots that would be in use with workers enough, at even moments. */
  readonly demand: readonly number[];
  readonly outcomes: readonly Outcome[];
  readonly others: readonly Outcome[];
}

/** Runs a trace under Platen, every baseline and whoever else is named, each from the same size. */
export function simulateAll(trace: Trace, seed: number, others: readonly Scaler[] = []): TraceOutcome {
  const demand = idealDemand(trace);
  const options = { maxReplicas: POOL.maxReplicas, slotsPerWorker: POOL.slotsPerWorker };
  const replicas = Math.max(1, new Oracle(trace, demand, options).sizeAt(0));
  const run = (scaler: Scaler) => simulate(trace, scaler, { ...options, replicas, seed });
  const outcomes = [new Platen(POOL), ...baselines(trace, demand, options)].map(run);
  return { trace, demand: sampleMax(demand), outcomes, others: others.map(run) };
}

export function simulate(
  trace: Trace,
  scaler: Scaler,
  { slotsPerWorker, replicas, seed }: ScalerOptions & { replicas: number; seed: number },
): Outcome {
  const events = new EventQueue();
  const cluster = new Cluster(trace, events, { slotsPerWorker, replicas, random: seeded(seed) });
  const tick = () => {
    scaler.tick(cluster, events.now);
    events.after(scaler.everyMs, tick);
  };
  events.at(0, tick);
  const pods: number[] = [];
  for (let sample = 1; sample <= SAMPLES; sample += 1) {
    events.runUntil((trace.durationMs * sample) / SAMPLES);
    pods.push(cluster.pods.length);
  }
  cluster.finish();
  return {
    scaler: scaler.name,
    ...waitsOf(trace, cluster, events.now),
    podHours: cluster.podMs / 3_600_000,
    scaleActions: cluster.scaleActions,
    pods,
  };
}

/** What has not started has waited until the end at least: it counts as that. */
function waitsOf(
  trace: Trace,
  { startedAt, dispatchedAt, arrived }: Cluster,
  end: number,
): Pick<Outcome, 'wait' | 'workerWait' | 'unstarted' | 'waits'> {
  const { arrival } = trace.jobs;
  const wait = new Float64Array(arrived);
  const workerWait: number[] = [];
  const stretches: number[][] = Array.from({ length: SAMPLES }, () => []);
  let unstarted = 0;
  for (let job = 0; job < arrived; job += 1) {
    const hasStarted = !Number.isNaN(startedAt[job]!);
    if (!hasStarted) unstarted += 1;
    const start = hasStarted ? startedAt[job]! : end;
    wait[job] = start - arrival[job]!;
    if (dispatchedAt[job] === 0 && arrival[job]! > 0) continue;
    workerWait.push(start - dispatchedAt[job]!);
    stretches[Math.min(SAMPLES - 1, Math.floor((start / end) * SAMPLES))]!.push(start - dispatchedAt[job]!);
  }
  return {
    wait: percentiles(wait),
    workerWait: percentiles(Float64Array.from(workerWait)),
    unstarted,
    waits: stretches.map((its) => percentiles(Float64Array.from(its)).p95),
  };
}

function percentiles(values: Float64Array): Percentiles {
  values.sort();
  const at = (share: number) => values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

function sampleMax(seconds: Uint32Array): number[] {
  const size = seconds.length / SAMPLES;
  return Array.from({ length: SAMPLES }, (_, sample) =>
    seconds
      .subarray(Math.floor(sample * size), Math.floor((sample + 1) * size) + 1)
      .reduce((a, b) => Math.max(a, b), 0),
  );
}
