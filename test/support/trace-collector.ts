import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually } from './eventually.ts';

/** A span as a collector has received it. */
export interface ReceivedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a span that begins a trace. */
  readonly parentSpanId: string;
  readonly traceState: string;
  /** Nanoseconds since the epoch. */
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** 2 for an error. */
  readonly status: number;
}

type Value = Readonly<Record<string, unknown>>;
interface KeyValue {
  readonly key: string;
  readonly value: Value;
}
interface OtlpSpan
  extends Record<'name' | 'traceId' | 'spanId' | 'startTimeUnixNano' | 'endTimeUnixNano', string> {
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly attributes?: readonly KeyValue[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status?: { readonly code?: number };
}
interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** A collector of traces, for OTLP over HTTP with JSON. */
export class TraceCollector {
  readonly spans: ReceivedSpan[] = [];
  /** The headers of each request. */
  readonly requests: IncomingHttpHeaders[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<TraceCollector> {
    const server = createServer((request, response) => {
      void text(request).then((body) => {
        collector.requests.push(request.headers);
        if (request.url === '/v1/traces') collector.#take(JSON.parse(body));
        response.setHeader('content-type', 'application/json').end('{}');
      });
    });
    const collector = new TraceCollector(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return collector;
  }

  /** The variables by which a process sends its spans here. */
  get environment(): Record<string, string> {
    const { port } = this.#server.address() as AddressInfo;
    return {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    };
  }

  of(traceId: string): ReceivedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  /** Resolves with the spans of a trace once these names are among them, each as often as it is given. */
  async whole(traceId: string, names: readonly string[]): Promise<ReceivedSpan[]> {
    const missing = () => {
      const there = this.of(traceId).map(({ name }) => name);
      return names.filter((name) => {
        const at = there.indexOf(name);
        if (at >= 0) there.splice(at, 1);
        return at < 0;
      });
    };
    await eventually(`the spans ${names} of ${traceId}`, () => missing().length === 0);
    return this.of(traceId);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take({ resourceSpans }: OtlpRequest): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = String(fieldsOf(resource.attributes)['service.name']);
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) this.spans.push(received(service, span));
    }
  }
}

function received(service: string, span: OtlpSpan): ReceivedSpan {
  const { name, traceId, spanId, parentSpanId = '', traceState = '', attributes, links = [], status } = span;
  return {
    service,
    name,
    traceId,
    spanId,
    parentSpanId,
    traceState,
    start: BigInt(span.startTimeUnixNano),
    end: BigInt(span.endTimeUnixNano),
    attributes: fieldsOf(attributes),
    links,
    status: status?.code ?? 0,
  };
}

function fieldsOf(attributes: readonly KeyValue[] = []): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
