import { Counter, Gauge, Histogram } from 'prom-client';
import { DURATION_BUCKETS, type MetricTarget } from '../infra/telemetry/metrics.ts';

const SIZE_BUCKETS = [1e3, 1e4, 5e4, 1e5, 5e5, 1e6, 5e6, 1e7, 5e7, 1e8];

/** Renders of a worker, and its slots. */
export function workerMetrics({ registers, traced }: MetricTarget) {
  return {
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
    seals: new Counter({
      name: 'platen_seals_total',
      help: 'Seals of PDFs by kind of key (keyId, digestUrl) and outcome: sealed, or the code of an error.',
      labelNames: ['key', 'outcome'] as const,
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
  };
}
