import { KubernetesError } from './kubernetes-error.ts';

/** metav1.Status: how the API server says what went wrong, as an answer or within a watch. */
interface Status {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly retryAfterSeconds?: number };
}

/** More of an answer that is not the API server's own (a proxy's page) is not told. */
const MAX_TOLD = 200;

/** The error that an answer other than 2xx is. */
export function errorOfAnswer(
  call: string,
  status: number,
  retryAfter: string | undefined,
  body: string,
): KubernetesError {
  const told = parseStatus(body);
  const message = told?.message ?? body.slice(0, MAX_TOLD).trim();
  const seconds = told?.details?.retryAfterSeconds;
  return new KubernetesError(`${call}: ${status} ${message}`.trim(), {
    status,
    reason: told?.reason ?? `Status${status}`,
    retryAfterMs: retryAfterMs(retryAfter) ?? (seconds === undefined ? undefined : seconds * 1000),
  });
}

/** The error that an ERROR event within a watch is. */
export function errorOfEvent(call: string, object: unknown): KubernetesError {
  const status = (typeof object === 'object' && object !== null ? object : {}) as Status;
  const seconds = status.details?.retryAfterSeconds;
  return new KubernetesError(`${call}: ${status.code ?? ''} ${status.message ?? 'the watch failed'}`, {
    status: status.code ?? 500,
    reason: status.reason ?? 'Unknown',
    retryAfterMs: seconds === undefined ? undefined : seconds * 1000,
  });
}

/** The error that no answer is. */
export function errorOfConnection(call: string, cause: unknown): KubernetesError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new KubernetesError(`${call}: no answer: ${message}`, { status: 0, reason: 'Unreachable', cause });
}

function parseStatus(body: string): Status | undefined {
  try {
    const value: unknown = JSON.parse(body);
    const isStatus =
      typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Status';
    return isStatus ? (value as Status) : undefined;
  } catch {
    return undefined;
  }
}

/** Seconds, as the API server says it; a date, as a proxy before it may. */
function retryAfterMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
