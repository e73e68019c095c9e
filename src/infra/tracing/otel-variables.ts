import { optional, z } from 'zod';
import { httpUrl } from '../egress/http-url.ts';

/** Of OTLP over HTTP. */
const OTLP_PROTOCOLS = ['http/protobuf', 'http/json'] as const;
/** `name=value,name=value`, the values percent-encoded. */
const otlpHeaders = z.string().refine((text) => {
  try {
    return text
      .split(',')
      .every((pair) => /^\s*[\w!#$%&'*+.^`|~-]+\s*=/.test(pair) && decodeURIComponent(pair) !== undefined);
  } catch {
    return false;
  }
}, 'must be pairs such as name=value, comma-separated, the values percent-encoded');

/** OpenTelemetry's variables that switch traces on; its exporter reads more, as OTEL_EXPORTER_OTLP_TIMEOUT. */
export const otelVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(httpUrl).describe(
    'Collector of OpenTelemetry to which traces are sent by OTLP over HTTP, such as http://collector:4318; /v1/traces is appended. Without it, and without OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, nothing is traced (docs/tracing.md).',
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: optional(httpUrl).describe(
    'The same with its whole path, in place of OTEL_EXPORTER_OTLP_ENDPOINT.',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: optional(otlpHeaders).describe(
    'Headers for the collector, such as a token: name=value, comma-separated, percent-encoded.',
  ),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: optional(otlpHeaders).describe(
    'Headers in addition to OTEL_EXPORTER_OTLP_HEADERS.',
  ),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .enum(OTLP_PROTOCOLS)
    .default('http/protobuf')
    .describe('How spans are encoded. OTLP over gRPC is not supported.'),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: optional(z.enum(OTLP_PROTOCOLS)).describe(
    'In place of OTEL_EXPORTER_OTLP_PROTOCOL.',
  ),
  OTEL_SDK_DISABLED: optional(z.string().toLowerCase()).describe(
    'true: nothing is traced, whatever else is set.',
  ),
  OTEL_SERVICE_NAME: optional(z.string().min(1)).describe(
    'The service of the spans. Default platen- and the role, such as platen-worker.',
  ),
  OTEL_RESOURCE_ATTRIBUTES: optional(z.string().min(1)).describe(
    'Attributes of all spans of the process: name=value, comma-separated, percent-encoded.',
  ),
  OTEL_TRACES_SAMPLER: z
    .enum([
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ])
    .default('parentbased_always_on')
    .describe(
      'Which traces are recorded. With parentbased_, the caller decides for the traces that it continues. The same for all roles.',
    ),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('The share of traces that traceidratio and parentbased_traceidratio record.'),
};

const schema = z.object(otelVariables);

export type TracingConfig = z.infer<typeof schema> & {
  readonly POD_NAME?: string | undefined;
  readonly POD_NAMESPACE?: string | undefined;
};
