import {
  type Context,
  createTraceState,
  type HrTime,
  type Link,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import {
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  type IdGenerator,
  ParentBasedSampler,
  RandomIdGenerator,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { within } from '../async/timeout.ts';
import type { Logger } from '../telemetry/logger.ts';
import { BUILD } from '../version.ts';
import type { TracingConfig } from './otel-variables.ts';
import { contextOf, idsOf, type TraceContext } from './trace-context.ts';
import type { Span, SpanOptions, Tracing } from './tracing.ts';

/** How long a process that stops tries to send its last spans, in milliseconds. */
const LAST_SPANS_MS = 3000;
/** Spans that wait to be sent, and spans of one request: what comes beyond the first is dropped. */
const MAX_WAITING = 2048;
const MAX_SENT = 512;
const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER } as const;

/** Sends spans to the collector that the environment names. */
export async function openOtlpTracing(
  config: TracingConfig,
  { role, instance, logger }: { readonly role: string; readonly instance: string; readonly logger: Logger },
): Promise<Tracing> {
  const ids = new SpanIds();
  const { POD_NAME: pod, POD_NAMESPACE: namespace } = config;
  const own = resourceFromAttributes({
    'service.name': `platen-${role}`,
    'service.version': BUILD.version,
    'service.instance.id': instance,
    ...(pod !== undefined && { 'k8s.pod.name': pod }),
    ...(namespace !== undefined && { 'k8s.namespace.name': namespace }),
  });
  const provider = new TracerProvider({
    resource: own.merge(
      detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }),
    ),
    sampler: samplerOf(config),
    idGenerator: ids,
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reporting(await exporterOf(config), logger),
        maxQueueSize: MAX_WAITING,
        maxExportBatchSize: MAX_SENT,
      }),
    ],
  });
  const tracer = provider.getTracer('platen', BUILD.version);
  return {
    on: true,
    startSpan(name, options = {}) {
      ids.next = options.spanId;
      const span = tracer.startSpan(name, spanOptionsOf(options), parentOf(options.parent));
      return {
        // Most spans have none below them.
        get context() {
          const { traceId, spanId, traceFlags, traceState } = span.spanContext();
          const sampled = (traceFlags & TraceFlags.SAMPLED) !== 0;
          return contextOf({ traceId, spanId, sampled }, traceState?.serialize());
        },
        end({ endTime = Date.now(), attributes, error } = {}) {
          if (attributes !== undefined) span.setAttributes(attributes);
          if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
          span.end(hrTimeOf(endTime));
        },
      } satisfies Span;
    },
    async stop() {
      // The last request to a collector that does not respond ends with the process.
      await within(LAST_SPANS_MS, 'Sending the last spans', provider.shutdown()).catch((error: unknown) => {
        logger.warn({ err: error }, 'the last spans could not be sent');
      });
    },
  };
}

/** Random ids, except for a span whose id is given: the SDK asks for the id while it starts the span. */
class SpanIds implements IdGenerator {
  next: string | undefined;
  readonly #random = new RandomIdGenerator();

  generateTraceId(): string {
    return this.#random.generateTraceId();
  }

  generateSpanId(): string {
    const given = this.next;
    this.next = undefined;
    return given ?? this.#random.generateSpanId();
  }
}

function spanOptionsOf({ kind, startTime = Date.now(), attributes, links = [] }: SpanOptions) {
  return {
    kind: kind === undefined ? SpanKind.INTERNAL : KINDS[kind],
    startTime: hrTimeOf(startTime),
    ...(attributes !== undefined && { attributes }),
    links: links.map(linkTo).filter((link) => link !== undefined),
  };
}

function parentOf(parent: TraceContext | undefined): Context {
  const context = spanContextOf(parent);
  return context === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, context);
}

function linkTo(target: TraceContext): Link | undefined {
  const context = spanContextOf(target);
  return context && { context };
}

function spanContextOf(context: TraceContext | undefined) {
  const ids = context && idsOf(context);
  if (context === undefined || ids === undefined) return undefined;
  const { traceId, spanId, sampled } = ids;
  return {
    traceId,
    spanId,
    traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    ...(context.tracestate !== undefined && { traceState: createTraceState(context.tracestate) }),
  };
}

/** The API counts a number below the process's start from that start, and a job may be older than the process. */
function hrTimeOf(epochMs: number): HrTime {
  const seconds = Math.floor(epochMs / 1000);
  return [seconds, Math.round((epochMs - seconds * 1000) * 1e6)];
}

/** As the specification of OpenTelemetry has it; the SDK leaves these variables to its users. */
function samplerOf(config: TracingConfig): Sampler {
  const { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio } = config;
  const kind = name.replace(/^parentbased_/, '');
  const root =
    kind === 'always_off'
      ? new AlwaysOffSampler()
      : kind === 'traceidratio'
        ? new TraceIdRatioBasedSampler(ratio)
        : new AlwaysOnSampler();
  return name === kind ? root : new ParentBasedSampler({ root });
}

async function exporterOf(config: TracingConfig): Promise<SpanExporter> {
  const protocol = config.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? config.OTEL_EXPORTER_OTLP_PROTOCOL;
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: whole } = config;
  const url = whole ?? `${base?.replace(/\/+$/, '')}/v1/traces`;
  const headers = {
    ...headersOf(config.OTEL_EXPORTER_OTLP_HEADERS),
    ...headersOf(config.OTEL_EXPORTER_OTLP_TRACES_HEADERS),
  };
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  // The exporter reads what else there is of the environment, which has no secrets in a process with browsers.
  return new OTLPTraceExporter({ url, headers });
}

/** `name=value,name=value`, percent-encoded. */
export function headersOf(text = ''): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
    }),
  );
}

/** Logs when spans begin to be lost, and when they are sent again; not each time. */
function reporting(exporter: SpanExporter, logger: Logger): SpanExporter {
  let isLosing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.error !== undefined || result.code !== 0;
        if (failed && !isLosing)
          logger.warn({ err: result.error }, 'spans of traces could not be sent, and are lost');
        if (!failed && isLosing) logger.info('spans of traces are sent again');
        isLosing = failed;
        done(result);
      });
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}
