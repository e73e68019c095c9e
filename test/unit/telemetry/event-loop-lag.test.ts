import assert from 'node:assert/strict';
import { setImmediate as nextRound } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { collectProcessMetrics } from '../../../src/infra/telemetry/event-loop-lag.ts';

/** In milliseconds. */
const BLOCKED_MS = 150;

describe('the lag of the event loop', () => {
  let registry: Registry;
  beforeEach(() => {
    registry = new Registry();
    collectProcessMetrics(registry);
  });

  const lags = async (): Promise<Map<string, number>> => {
    const metrics = await registry.getMetricsAsJSON();
    return new Map(
      metrics.flatMap(({ name, values }) => {
        const figure = /^nodejs_eventloop_lag_(\w+)_seconds$/.exec(name)?.[1];
        return figure === undefined ? [] : [[figure, values[0]!.value] as const];
      }),
    );
  };
  const block = async () => {
    await nextRound();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BLOCKED_MS);
    for (let i = 0; i < 3; i++) await nextRound();
  };

  it('has every figure that dashboards for Node ask for', async () => {
    assert.deepEqual([...(await lags()).keys()].sort(), [
      'max',
      'mean',
      'min',
      'p50',
      'p90',
      'p99',
      'stddev',
    ]);
  });

  it('shows a round that was held up, once', async () => {
    await lags();
    await block();
    const shown = (await lags()).get('max')!;
    assert.ok(shown >= BLOCKED_MS / 1000, `${shown} s`);
    assert.equal((await lags()).get('max'), 0);
  });
});
