import type { Connection } from 'mongoose';
import { Gauge } from 'prom-client';
import { watchOf } from '../infra/store/connection.ts';
import type { ReadableMetrics } from '../infra/telemetry/metrics.ts';

/** Reports in the metrics whether the database responds, and how many operations wait for it. Asks it nothing. */
export function recordDatabase(
  { registry }: Pick<ReadableMetrics, 'registry'>,
  connection: Connection,
): void {
  const watch = watchOf(connection);
  const registers = [registry];
  new Gauge({
    name: 'platen_database_responding',
    help: '0 while the database has responded to nothing for 3.5 s or more, although something waits for it; else 1.',
    registers,
    collect() {
      this.set(watch.silent ? 0 : 1);
    },
  });
  new Gauge({
    name: 'platen_database_operations',
    help: 'Operations of this process that wait for a response of the database.',
    registers,
    collect() {
      this.set(watch.pending);
    },
  });
}
