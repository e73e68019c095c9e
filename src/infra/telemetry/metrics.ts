import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { BUILD } from '../version.ts';
import { collectProcessMetrics } from './event-loop-lag.ts';
import { openMetricsText, setFormat } from './exemplars.ts';

/** In seconds, from a cached response to the longest deadline. */
const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** The labels in a name such as `platen_jobs{state,class}`. */
type LabelsOf<Name extends string> = Name extends `${string}{${infer List}}` ? Each<List> : never;
type Each<List extends string> = List extends `${infer First},${infer Rest}` ? First | Each<Rest> : List;

/**
 * Makes the metrics of a domain. A name has its labels as Prometheus writes them: `platen_jobs{state,class}`. They have a
 * bounded number of values: a plan may be a label, an account never.
 */
export class MetricTarget {
  readonly #registers: Registry[];
  readonly #exemplars: boolean;

  /** @param exemplars whether durations name traces. */
  constructor(registry: Registry, exemplars = false) {
    this.#registers = [registry];
    this.#exemplars = exemplars;
  }

  counter<Name extends string>(name: Name, help: string): Counter<LabelsOf<Name>> {
    return new Counter(this.#declared(name, help));
  }

  gauge<Name extends string>(name: Name, help: string): Gauge<LabelsOf<Name>> {
    return new Gauge(this.#declared(name, help));
  }

  histogram<Name extends string>(name: Name, help: string, buckets: number[]): Histogram<LabelsOf<Name>> {
    return new Histogram({ ...this.#declared(name, help), buckets });
  }

  /** Of seconds, which may name traces; see `observeDuration`. */
  duration<Name extends string>(name: Name, help: string): Histogram<LabelsOf<Name>> {
    const settings = { buckets: DURATION_BUCKETS, enableExemplars: this.#exemplars };
    return new Histogram({ ...this.#declared(name, help), ...settings });
  }

  #declared<Name extends string>(declaration: Name, help: string) {
    const [name = '', labels = ''] = declaration.split(/[{}]/);
    const labelNames = labels.split(',').filter(Boolean) as LabelsOf<Name>[];
    return { name, help, labelNames, registers: this.#registers };
  }
}

/** What is read of the metrics of a process. */
export interface ReadableMetrics {
  readonly registry: Registry;
  /** In the format of OpenMetrics; undefined without exemplars, for which alone it is needed. */
  readonly openMetrics: (() => ReturnType<typeof openMetricsText>) | undefined;
}

/** The metrics of a process. @param make those of the domains. @param exemplars whether durations name traces. */
export function openRegistry<Made extends object>(
  role: string,
  exemplars: boolean,
  make: (target: MetricTarget) => Made,
): ReadableMetrics & Made {
  const registry = new Registry();
  const defaultLabels = { role };
  registry.setDefaultLabels(defaultLabels);
  collectProcessMetrics(registry);
  // prom-client has exemplars in registries of OpenMetrics alone, which it asks for only while a metric is made.
  if (exemplars) setFormat(registry, Registry.OPENMETRICS_CONTENT_TYPE);
  const target = new MetricTarget(registry, exemplars);
  target
    .gauge(
      'platen_build_info{version,commit,node}',
      '1, with the version of Platen, the commit that it was built from and the version of Node as labels.',
    )
    .set({ ...BUILD }, 1);
  const made = make(target);
  setFormat(registry, Registry.PROMETHEUS_CONTENT_TYPE);
  return {
    registry,
    openMetrics: exemplars ? () => openMetricsText(registry, defaultLabels) : undefined,
    ...made,
  };
}
