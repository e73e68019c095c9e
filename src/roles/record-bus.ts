import { Gauge } from 'prom-client';
import type { Bus } from '../bus/bus.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** Reports in the metrics whether the bus carries messages: only a new process is less ready without it. */
export function recordBus({ registry }: Pick<Metrics, 'registry'>, bus: Pick<Bus, 'problem'>): void {
  new Gauge({
    name: 'platen_bus_connected',
    help: '1 while the process can send messages to the other roles and take theirs, 0 while Kafka is away or something of it is.',
    registers: [registry],
    collect() {
      this.set(bus.problem() === undefined ? 1 : 0);
    },
  });
}
