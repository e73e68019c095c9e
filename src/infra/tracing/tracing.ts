import type { TraceContext } from './trace-context.ts';

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanOptions {
  /** Default: the span begins a trace. */
  readonly parent?: TraceContext | undefined;
  /** Default: within this process. */
  readonly kind?: 'server' | 'client' | 'consumer';
  /** Epoch milliseconds. Default: now. */
  readonly startTime?: number;
  readonly attributes?: Attributes;
  /** Spans that this one follows. */
  readonly links?: readonly TraceContext[];
  /** 16 hex digits, for a span that another process has to be able to name. Default: random. */
  readonly spanId?: string;
}

export interface Span {
  /** For the spans and the processes that follow; undefined when nothing is traced. */
  readonly context: TraceContext | undefined;
  /** @param options `endTime` in epoch milliseconds, default now; `error` what went wrong, in a word. */
  end(options?: { endTime?: number; attributes?: Attributes; error?: string | undefined }): void;
}

/** Records spans. A port: `otlp-tracing.ts` sends them to a collector by the SDK of OpenTelemetry. */
export interface Tracing {
  /** False when nothing is traced: then no header is read or sent, and no work is given a trace. */
  readonly on: boolean;
  startSpan(name: string, options?: SpanOptions): Span;
  /** Sends the remaining spans, within a bounded time. */
  stop(): Promise<void>;
}

export const NO_SPAN: Span = { context: undefined, end() {} };
export const NO_TRACING: Tracing = { on: false, startSpan: () => NO_SPAN, async stop() {} };
