import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';

/** Twenty-four days, in milliseconds. */
const NEVER_MS = 2 ** 31 - 1;
const NANOSECONDS = 1e9;

type Rounds = ReturnType<typeof monitorEventLoopDelay>;

/** What is known of the rounds of the event loop since the last reading, in nanoseconds. */
const FIGURES: Readonly<Record<string, (rounds: Rounds) => number>> = {
  min: ({ min }) => min,
  max: ({ max }) => max,
  mean: ({ mean }) => mean,
  stddev: ({ stddev }) => stddev,
  p50: (rounds) => rounds.percentile(50),
  p90: (rounds) => rounds.percentile(90),
  p99: (rounds) => rounds.percentile(99),
};

/**
 * The metrics of every Node process, under the usual names. The lag of the event loop is the time that its rounds take,
 * without waiting, since the last reading. prom-client measures it by a timer that wakes the process a hundred times a
 * second: that was two thirds of all that a dispatcher at rest used of its processor.
 */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS });
  const rounds = monitorEventLoopDelay({ samplePerIteration: true });
  rounds.enable();
  const gauges = Object.entries(FIGURES).map(([figure, of], i) => {
    const name = `nodejs_eventloop_lag_${figure}_seconds`;
    registry.removeSingleMetric(name);
    const help = `The time that a round of the event loop takes, without waiting: ${figure} since the last reading.`;
    // The first one that is asked sets all of them.
    const first = i === 0 && { collect: () => readAll() };
    return { of, gauge: new Gauge({ name, help, registers: [registry], ...first }) };
  });
  const readAll = () => {
    // Without a round since the last reading there is no figure.
    for (const { of, gauge } of gauges) gauge.set(rounds.count === 0 ? 0 : of(rounds) / NANOSECONDS);
    rounds.reset();
  };
}
