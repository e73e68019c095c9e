import type { MetricTarget } from '../../infra/telemetry/metrics.ts';

/** In seconds, with a fine resolution where a warm context and a cold one differ. */
const CONTEXT_BUCKETS = [
  0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1, 2.5, 5, 10, 60, 300,
];

/** Browsers, their contexts and their processes. */
export function browserMetrics(target: MetricTarget) {
  return {
    contextLeases: target.counter(
      'platen_browser_context_leases_total{kind}',
      'Browser contexts leased to renders: warm (kept for their account) or cold (new).',
    ),
    contextRenders: target.histogram(
      'platen_browser_context_render_seconds{kind}',
      'Time of a render within the browser, from its slot to its PDF, by kind of context: warm or cold.',
      CONTEXT_BUCKETS,
    ),
    browsers: target.gauge('platen_browsers', 'Browser processes alive.'),
    contexts: target.gauge(
      'platen_browser_contexts',
      'Open browser contexts, in use or kept warm for their account.',
    ),
    browserSandboxed: target.gauge(
      'platen_browser_sandboxed{version}',
      "1 if the worker found its renderers in Chromium's sandbox, 0 if not or if that is unknown; with the browser's version.",
    ),
    browserRestarts: target.counter(
      'platen_browser_restarts_total{reason}',
      'Browsers that were replaced, by reason.',
    ),
    browserProcesses: target.gauge(
      'platen_browser_processes{kind}',
      'Processes of all browsers, by kind: browser, zygote, renderer, gpu, network, storage, utility.',
    ),
    browserMemory: target.gauge(
      'platen_browser_memory_bytes{kind}',
      'Memory of the processes of all browsers by kind, in bytes; shared memory is divided among them.',
    ),
    browserProcessor: target.counter(
      'platen_browser_processor_seconds_total{kind}',
      'Processor time of the processes of all browsers, by kind, in seconds.',
    ),
    browserProcessesEnded: target.counter(
      'platen_browser_processes_ended_total{kind,reason}',
      'Processes of browsers that were ended, by kind and reason: memory, hung (it drew nothing any more), unused (it computed without a render).',
    ),
  };
}
