import type { MetricTarget } from '../../infra/telemetry/metrics.ts';

/** In seconds: a few operations of the database, each below 1 ms when the machine is idle. */
const ADMISSION_BUCKETS = [
  0.00025, 0.0005, 0.00075, 0.001, 0.0015, 0.002, 0.003, 0.004, 0.005, 0.0075, 0.01, 0.025, 0.05, 0.1, 0.25,
  1,
];

/** Responses to requests, and what their admission takes. */
export function httpMetrics(target: MetricTarget) {
  return {
    httpRequests: target.counter(
      'platen_http_requests_total{method,route,status}',
      'Responses to HTTP requests, by route pattern, method and status.',
    ),
    httpDuration: target.duration(
      'platen_http_request_duration_seconds{method,route}',
      'Time from a request to the end of its response, in seconds.',
    ),
    admissionDuration: target.histogram(
      'platen_admission_duration_seconds{step}',
      'Time that requests for work spend in admission, by step: authenticate, limit, reserve (slot or position, and quota), confirm (of a position); total is the sum, of requests that were admitted.',
      ADMISSION_BUCKETS,
    ),
  };
}

export type HttpMetrics = ReturnType<typeof httpMetrics>;
