import type { Connection } from 'mongoose';
import type { Bus } from './bus/bus.ts';
import type { Clock } from './clock.ts';
import type { OutputStore } from './outputs/output-store.ts';
import type { Logger } from './telemetry/logger.ts';
import type { Tracing } from './tracing/tracing.ts';

/** What a process opens before its domains; `open…` of a domain takes what it needs of it. */
export interface Core {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tracing: Tracing;
  readonly bus: Bus;
  readonly outputs: OutputStore;
}
