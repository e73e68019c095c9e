import { Gauge } from 'prom-client';
import type { Bus } from '../bus/bus.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** Reports in the metrics whether the bus carries messages: only a new process is less ready without it. */
export function recordBus({ registry }: Pick<Metrics, 'registry'>, bus: Pick<Bus, 'problem'>): void {
  new Gauge({
    name: 'platen_bus_connected',
    help: '1 while the process can exchange messages with the other roles, 0 while Kafka or a part of it is unreachable.',
    registers: [registry],
    collect() {
      this.set(bus.problem() === undefined ? 1 : 0);
    },
  });
}
