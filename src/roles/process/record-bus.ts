import { Counter, Gauge } from 'prom-client';
import type { Bus } from '../../infra/bus/bus.ts';
import type { ReadableMetrics } from '../../infra/telemetry/metrics.ts';

/** Reports in the metrics whether the bus carries messages, without which only a new process is less ready, and what it skips. */
export function recordBus(
  { registry }: Pick<ReadableMetrics, 'registry'>,
  bus: Pick<Bus, 'problem' | 'skips'>,
): void {
  new Gauge({
    name: 'platen_bus_connected',
    help: '1 while the process can exchange messages with the other roles, 0 while Kafka or a part of it is unreachable.',
    registers: [registry],
    collect() {
      this.set(bus.problem() === undefined ? 1 : 0);
    },
  });
  new Counter({
    name: 'platen_bus_skips_total',
    help: 'How often messages were skipped because a batch among them could not be read, for example because it is too large when decompressed.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(bus.skips());
    },
  });
}
