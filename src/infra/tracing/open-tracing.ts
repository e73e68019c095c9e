import type { Logger } from '../telemetry/logger.ts';
import type { TracingConfig } from './otel-variables.ts';
import { NO_TRACING, type Tracing } from './tracing.ts';

/** Whether the environment names a collector. */
function isTraced({
  OTEL_EXPORTER_OTLP_ENDPOINT,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
  OTEL_SDK_DISABLED,
}: TracingConfig): boolean {
  const endpoint = OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? OTEL_EXPORTER_OTLP_ENDPOINT;
  return endpoint !== undefined && OTEL_SDK_DISABLED !== 'true';
}

/** Without a collector the SDK of OpenTelemetry is not even loaded. */
export async function openTracing(
  config: TracingConfig,
  process: { readonly role: string; readonly instance: string; readonly logger: Logger },
): Promise<Tracing> {
  if (!isTraced(config)) return NO_TRACING;
  const { openOtlpTracing } = await import('./otlp-tracing.ts');
  return openOtlpTracing(config, process);
}
