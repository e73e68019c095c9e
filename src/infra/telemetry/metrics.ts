import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { BUILD } from '../version.ts';
import { openMetricsText, setFormat } from './exemplars.ts';

/** In seconds, from a cached response to the longest deadline. */
export const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** Where the metrics of a domain go. Their labels have a bounded number of values: a plan may be a label, an account never. */
export interface MetricTarget {
  readonly registers: Registry[];
  /** For durations, which may name traces; see `observeDuration`. */
  readonly traced: { readonly registers: Registry[]; readonly enableExemplars: boolean };
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
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  // prom-client has exemplars in registries of OpenMetrics alone, which it asks for only while a metric is made.
  if (exemplars) setFormat(registry, Registry.OPENMETRICS_CONTENT_TYPE);
  new Gauge({
    name: 'platen_build_info',
    help: '1, with the version of Platen, the commit that it was built from and the version of Node as labels.',
    labelNames: ['version', 'commit', 'node'] as const,
    registers,
  }).set({ ...BUILD }, 1);
  const made = make({ registers, traced: { registers, enableExemplars: exemplars } });
  setFormat(registry, Registry.PROMETHEUS_CONTENT_TYPE);
  return {
    registry,
    openMetrics: exemplars ? () => openMetricsText(registry, defaultLabels) : undefined,
    ...made,
  };
}
