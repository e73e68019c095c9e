import { Counter, type Histogram, type Metric, Registry, type RegistryContentType } from 'prom-client';

/** Observes seconds; with exemplars, the bucket names the last trace. @param traceId of a recorded trace. */
export function observeDuration<L extends string>(
  histogram: Histogram<L>,
  labels: Partial<Record<L, string | number>>,
  seconds: number,
  traceId?: string,
): void {
  if (!hasExemplars(histogram)) {
    histogram.observe(labels, seconds);
    return;
  }
  const exemplarLabels: Record<string, string> = traceId === undefined ? {} : { trace_id: traceId };
  // Its type has the labels of the histogram, whose names those of exemplars need not be.
  const unbound: Histogram<string> = histogram;
  unbound.observe({ labels, value: seconds, exemplarLabels });
}

function hasExemplars(histogram: object): boolean {
  return 'enableExemplars' in histogram && histogram.enableExemplars === true;
}

/** The type of a registry has its format in it, although that may change. */
export function setFormat(registry: Registry<RegistryContentType>, format: RegistryContentType): void {
  registry.setContentType(format);
}

/** All metrics in the format of OpenMetrics, the only one that has exemplars. */
export async function openMetricsText(
  registry: Registry,
  labels: Readonly<Record<string, string>>,
): Promise<{ readonly text: string; readonly contentType: string }> {
  const contentType = Registry.OPENMETRICS_CONTENT_TYPE;
  const open = new Registry();
  setFormat(open, contentType);
  open.setDefaultLabels(labels);
  for (const { name } of registry.getMetricsAsArray()) {
    const metric = registry.getSingleMetric(name);
    if (metric !== undefined) open.registerMetric(metric instanceof Counter ? renamed(metric, name) : metric);
  }
  return { text: await open.metrics(), contentType };
}

/**
 * A view of a counter, without the end `_total` of its name, which OpenMetrics appends. The registry would rename the
 * counter itself, for good and so for the text format as well.
 */
function renamed(counter: Counter, fullName: string): Metric {
  const name = fullName.replace(/_total$/, '');
  return Object.create(counter, {
    name: { value: name, writable: true },
    get: { value: async () => ({ ...(await counter.get()), name }) },
  });
}
