import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { BUILD } from '../version.ts';
import { openMetricsText, setFormat } from './exemplars.ts';

/** In seconds, from a cached response to the longest deadline. */
const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
/** In seconds, with a fine resolution where a warm context and a cold one differ. */
const CONTEXT_BUCKETS = [
  0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1, 2.5, 5, 10, 60, 300,
];
/** In seconds: a few operations of the database, each below 1 ms when the machine is idle. */
const ADMISSION_BUCKETS = [
  0.00025, 0.0005, 0.00075, 0.001, 0.0015, 0.002, 0.003, 0.004, 0.005, 0.0075, 0.01, 0.025, 0.05, 0.1, 0.25,
  1,
];
const SIZE_BUCKETS = [1e3, 1e4, 5e4, 1e5, 5e5, 1e6, 5e6, 1e7, 5e7, 1e8];

/**
 * All metrics of Platen, created once per process and passed to the modules that record them. The labels have a bounded
 * number of values: a plan may be a label, an account never.
 *
 * @param exemplars whether durations name traces; see `observeDuration`.
 */
export function createMetrics(role: string, { exemplars = false } = {}) {
  const registry = new Registry();
  const defaultLabels = { role };
  registry.setDefaultLabels(defaultLabels);
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  // prom-client has exemplars in registries of OpenMetrics alone, which it asks for only while a metric is made.
  if (exemplars) setFormat(registry, Registry.OPENMETRICS_CONTENT_TYPE);
  const traced = { registers, enableExemplars: exemplars };
  new Gauge({
    name: 'platen_build_info',
    help: '1, with the version of Platen, the commit that it was built from and the version of Node as labels.',
    labelNames: ['version', 'commit', 'node'] as const,
    registers,
  }).set({ ...BUILD }, 1);
  const metrics = {
    registry,
    /** In the format of OpenMetrics; undefined without exemplars, for which alone it is needed. */
    openMetrics: exemplars ? () => openMetricsText(registry, defaultLabels) : undefined,
    httpRequests: new Counter({
      name: 'platen_http_requests_total',
      help: 'Responses to HTTP requests, by route pattern, method and status.',
      labelNames: ['method', 'route', 'status'] as const,
      registers,
    }),
    httpDuration: new Histogram({
      name: 'platen_http_request_duration_seconds',
      help: 'Time from a request to the end of its response, in seconds.',
      labelNames: ['method', 'route'] as const,
      buckets: DURATION_BUCKETS,
      ...traced,
    }),
    admissionDuration: new Histogram({
      name: 'platen_admission_duration_seconds',
      help: 'Time that requests for work spend in admission, by step: authenticate, limit, reserve (slot or position, and quota), confirm (of a position); total is the sum, of requests that were admitted.',
      labelNames: ['step'] as const,
      buckets: ADMISSION_BUCKETS,
      registers,
    }),
    paymentEvents: new Counter({
      name: 'platen_payment_events_total',
      help: 'Events of the payment provider: noted, ignored, refused (rejected: not signed, or too old) or failed (could not be stored).',
      labelNames: ['outcome'] as const,
      registers,
    }),
    paymentEventAge: new Histogram({
      name: 'platen_payment_event_age_seconds',
      help: 'Time from an event at the payment provider to its arrival here, in seconds.',
      buckets: [1, 2, 5, 10, 30, 60, 300, 1800, 7200, 86_400, 259_200],
      registers,
    }),
    billingSyncs: new Counter({
      name: 'platen_billing_syncs_total',
      help: 'Synchronizations of an account with the payment provider: done, overtaken (by a later one) or failed.',
      labelNames: ['outcome'] as const,
      registers,
    }),
    reconcileFindings: new Counter({
      name: 'platen_billing_reconcile_findings_total',
      help: 'Differences that queries of the payment provider found, by kind: event (one that had not arrived) or schedule (one that was half-made, and was finished or released).',
      labelNames: ['kind'] as const,
      registers,
    }),
    overageBlocks: new Gauge({
      name: 'platen_billing_blocks',
      help: 'Blocks of PDFs beyond the quota, by state; on_page: offered on a hosted page.',
      labelNames: ['state'] as const,
      registers,
    }),
    billingDisputes: new Gauge({
      name: 'platen_billing_disputes',
      help: 'Payments that the banks of customers dispute at present, by what was paid: subscription or block.',
      labelNames: ['about'] as const,
      registers,
    }),
    billingErrors: new Counter({
      name: 'platen_billing_errors_total',
      help: 'States that an operator has to check, counted each time that one is seen: unclear (a status or price that is not understood), duplicate (a second subscription), refund (one that cannot be paid back), unproven (a block that is marked as paid without a payment), refused (a block whose invoice was rejected).',
      labelNames: ['kind'] as const,
      registers,
    }),
    jobs: new Gauge({
      name: 'platen_jobs',
      help: 'Live jobs by state and class.',
      labelNames: ['state', 'class'] as const,
      registers,
    }),
    slotsInUse: new Gauge({
      name: 'platen_slots_in_use',
      help: 'Plan slots taken, by plan.',
      labelNames: ['plan'] as const,
      registers,
    }),
    slotsWaiting: new Gauge({
      name: 'platen_slots_waiting',
      help: 'Jobs that wait for a plan slot, by plan.',
      labelNames: ['plan'] as const,
      registers,
    }),
    oldestDispatched: new Gauge({
      name: 'platen_queue_oldest_age_seconds',
      help: 'Age of the job that has held a plan slot for longest without a worker taking it, by pool, in seconds; 0 while none does.',
      labelNames: ['pool'] as const,
      registers,
    }),
    jobWait: new Histogram({
      name: 'platen_job_wait_seconds',
      help: 'Time that jobs had waited when a worker took them for the first time, by what they waited for (a slot of their plan, or a worker) and class.',
      labelNames: ['for', 'class'] as const,
      buckets: DURATION_BUCKETS,
      ...traced,
    }),
    plansFileValid: new Gauge({
      name: 'platen_plans_file_valid',
      help: '1 while the plans are those of the plans file, or without such a file; 0 while the file has errors and the earlier plans stay in force.',
      registers,
    }),
    secretOutdated: new Gauge({
      name: 'platen_secret_outdated',
      help: '1 while the Secret that a variable was taken from, or the file that it names, differs from the start of the process, by variable.',
      labelNames: ['variable'] as const,
      registers,
    }),
    certificateEnds: new Gauge({
      name: 'platen_certificate_end_timestamp_seconds',
      help: 'When the client certificate that this process shows ends to be valid, in seconds since the epoch, by variable.',
      labelNames: ['variable'] as const,
      registers,
    }),
    poolDemand: new Gauge({
      name: 'platen_pool_demand_slots',
      help: 'Jobs that may run at the moment, by pool: in flight, and waiting jobs that would fit in addition.',
      labelNames: ['pool'] as const,
      registers,
    }),
    jobsEnded: new Counter({
      name: 'platen_jobs_ended_total',
      help: 'Jobs that ended, by state, class and error code ("none" when completed).',
      labelNames: ['state', 'class', 'code'] as const,
      registers,
    }),
    rendersDropped: new Counter({
      name: 'platen_renders_dropped_total',
      help: 'Renders whose result was dropped: the job was cancelled, or its lease ended and another worker took it.',
      registers,
    }),
    retries: new Counter({
      name: 'platen_job_retries_total',
      help: 'Attempts that failed and will be repeated, by error code.',
      labelNames: ['code'] as const,
      registers,
    }),
    renderDuration: new Histogram({
      name: 'platen_render_phase_duration_seconds',
      help: 'Time of a render by phase: page, load, wait, print, finish; total is from claim to completion.',
      labelNames: ['phase'] as const,
      buckets: DURATION_BUCKETS,
      ...traced,
    }),
    pages: new Counter({ name: 'platen_pages_total', help: 'Pages printed.', registers }),
    bytes: new Counter({ name: 'platen_pdf_bytes_total', help: 'Bytes of PDF produced.', registers }),
    pdfSize: new Histogram({
      name: 'platen_pdf_size_bytes',
      help: 'Size of a PDF in bytes.',
      buckets: SIZE_BUCKETS,
      registers,
    }),
    workerSlots: new Gauge({
      name: 'platen_worker_slots',
      help: 'Renders a worker can run at a time (total), and how many it runs (busy), by the pool that it serves.',
      labelNames: ['kind', 'pool'] as const,
      registers,
    }),
    workerStart: new Gauge({
      name: 'platen_worker_start_seconds',
      help: 'Time from the start of the process to its first poll for work, in seconds, by pool.',
      labelNames: ['pool'] as const,
      registers,
    }),
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
    sweeps: new Counter({
      name: 'platen_sweeps_total',
      help: 'Sweeps run, by name and outcome.',
      labelNames: ['sweep', 'outcome'] as const,
      registers,
    }),
    sweepRepairs: new Counter({
      name: 'platen_sweep_repairs_total',
      help: 'Repairs that sweeps made, by sweep.',
      labelNames: ['sweep'] as const,
      registers,
    }),
    callbacks: new Counter({
      name: 'platen_callback_attempts_total',
      help: 'Attempts to deliver a callback, by outcome: delivered, retried (failed, and will be repeated), failed (for good).',
      labelNames: ['outcome'] as const,
      registers,
    }),
    callbackOldestDue: new Gauge({
      name: 'platen_callback_oldest_due_seconds',
      help: 'Time since the oldest callback became due that its own receiver does not delay, in seconds; 0 while none is due.',
      registers,
    }),
    mails: new Counter({
      name: 'platen_mail_attempts_total',
      help: 'Attempts to send a mail, by outcome: sent, retried (failed, and will be repeated), failed (for good).',
      labelNames: ['outcome'] as const,
      registers,
    }),
    mailsWaiting: new Gauge({
      name: 'platen_mails_waiting',
      help: 'Mails that wait to be sent.',
      registers,
    }),
    mailOldestWaiting: new Gauge({
      name: 'platen_mail_oldest_waiting_seconds',
      help: 'Time that the oldest unsent mail has been waiting, in seconds; 0 without unsent mails.',
      registers,
    }),
    egress: new Counter({
      name: 'platen_egress_connections_total',
      help: 'Connections that documents requested, by outcome: connected, or the reason why not (proxy: HTTPS_PROXY has failed or refused).',
      labelNames: ['outcome'] as const,
      registers,
    }),
  };
  setFormat(registry, Registry.PROMETHEUS_CONTENT_TYPE);
  return metrics;
}

export type Metrics = ReturnType<typeof createMetrics>;
