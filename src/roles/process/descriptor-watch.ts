import { DescriptorWatch } from '../../infra/overload/descriptors.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';
import type { Closers } from './component.ts';

/** Watches the file descriptors of this process until it stops. */
export function startDescriptorWatch(logger: Logger, closers: Closers): void {
  const watch = new DescriptorWatch(logger);
  watch.start();
  closers.add(async () => watch.stop());
}
