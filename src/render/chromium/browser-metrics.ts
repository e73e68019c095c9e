import { Counter, Gauge, Histogram } from 'prom-client';
import type { MetricTarget } from '../../infra/telemetry/metrics.ts';

/** In seconds, with a fine resolution where a warm context and a cold one differ. */
const CONTEXT_BUCKETS = [
  0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1, 2.5, 5, 10, 60, 300,
];

/** Browsers, their contexts and their processes. */
export function browserMetrics({ registers }: MetricTarget) {
  return {
    contextLeases: new Counter({
      name: 'platen_browser_context_leases_total',
      help: 'Browser contexts leased to renders: warm (kept for their account) or cold (new).',
      labelNames: ['kind'] as const,
      registers,
    }),
    contextRenders: new Histogram({
      name: 'platen_browser_context_render_seconds',
      help: 'Time of a render within the browser, from its slot to its PDF, by kind of context: warm or cold.',
      labelNames: ['kind'] as const,
      buckets: CONTEXT_BUCKETS,
      registers,
    }),
    browsers: new Gauge({ name: 'platen_browsers', help: 'Browser processes alive.', registers }),
    contexts: new Gauge({
      name: 'platen_browser_contexts',
      help: 'Open browser contexts, in use or kept warm for their account.',
      registers,
    }),
    browserSandboxed: new Gauge({
      name: 'platen_browser_sandboxed',
      help: "1 if the worker found its renderers in Chromium's sandbox, 0 if not or if that is unknown; with the browser's version.",
      labelNames: ['version'] as const,
      registers,
    }),
    browserRestarts: new Counter({
      name: 'platen_browser_restarts_total',
      help: 'Browsers that were replaced, by reason.',
      labelNames: ['reason'] as const,
      registers,
    }),
    browserProcesses: new Gauge({
      name: 'platen_browser_processes',
      help: 'Processes of all browsers, by kind: browser, zygote, renderer, gpu, network, storage, utility.',
      labelNames: ['kind'] as const,
      registers,
    }),
    browserMemory: new Gauge({
      name: 'platen_browser_memory_bytes',
      help: 'Memory of the processes of all browsers by kind, in bytes; shared memory is divided among them.',
      labelNames: ['kind'] as const,
      registers,
    }),
    browserProcessor: new Counter({
      name: 'platen_browser_processor_seconds_total',
      help: 'Processor time of the processes of all browsers, by kind, in seconds.',
      labelNames: ['kind'] as const,
      registers,
    }),
    browserProcessesEnded: new Counter({
      name: 'platen_browser_processes_ended_total',
      help: 'Processes of browsers that were ended, by kind and reason: memory, hung (it drew nothing any more), unused (it computed without a render).',
      labelNames: ['kind', 'reason'] as const,
      registers,
    }),
  };
}
