import type { MetricTarget } from '../infra/telemetry/metrics.ts';

const SIZE_BUCKETS = [1e3, 1e4, 5e4, 1e5, 5e5, 1e6, 5e6, 1e7, 5e7, 1e8];

/** Renders of a worker, and its slots. */
export function workerMetrics(target: MetricTarget) {
  return {
    renderDuration: target.duration(
      'platen_render_phase_duration_seconds{phase}',
      'Time of a render by phase: page, load, wait, print, finish; total is from claim to completion.',
    ),
    pages: target.counter('platen_pages_total', 'Pages printed.'),
    bytes: target.counter('platen_pdf_bytes_total', 'Bytes of PDF produced.'),
    pdfSize: target.histogram('platen_pdf_size_bytes', 'Size of a PDF in bytes.', SIZE_BUCKETS),
    seals: target.counter(
      'platen_seals_total{key,outcome}',
      'Seals of PDFs by kind of key (keyId, digestUrl) and outcome: sealed, or the code of an error.',
    ),
    workerSlots: target.gauge(
      'platen_worker_slots{kind,pool}',
      'Renders a worker can run at a time (total), and how many it runs (busy), by the pool that it serves.',
    ),
    workerStart: target.gauge(
      'platen_worker_start_seconds{pool}',
      'Time from the start of the process to its first poll for work, in seconds, by pool.',
    ),
  };
}
