import { KubernetesError } from '../kubernetes-error.ts';

/** metav1.Status: the API server's form of an error, in a response or within a watch. */
interface Status {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly retryAfterSeconds?: number };
}

/** Characters reported of a response that is not the API server's own, such as a proxy's page. */
const MAX_REPORTED = 200;

/** The error for a response other than 2xx. */
export function errorOfResponse(
  call: string,
  status: number,
  retryAfter: string | undefined,
  body: string,
): KubernetesError {
  const reported = parseStatus(body);
  const message = reported?.message ?? body.slice(0, MAX_REPORTED).trim();
  const seconds = reported?.details?.retryAfterSeconds;
  return new KubernetesError(`${call}: ${status} ${message}`.trim(), {
    status,
    reason: reported?.reason ?? `Status${status}`,
    retryAfterMs: retryAfterMs(retryAfter) ?? (seconds === undefined ? undefined : seconds * 1000),
  });
}

/** The error for an ERROR event within a watch. */
export function errorOfEvent(call: string, object: unknown): KubernetesError {
  const status = (typeof object === 'object' && object !== null ? object : {}) as Status;
  const seconds = status.details?.retryAfterSeconds;
  return new KubernetesError(`${call}: ${status.code ?? ''} ${status.message ?? 'the watch failed'}`, {
    status: status.code ?? 500,
    reason: status.reason ?? 'Unknown',
    retryAfterMs: seconds === undefined ? undefined : seconds * 1000,
  });
}

/** The error for a missing response. */
export function errorOfConnection(call: string, cause: unknown): KubernetesError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new KubernetesError(`${call}: no response: ${message}`, { status: 0, reason: 'Unreachable', cause });
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

/** In seconds, from the API server; as a date, from a proxy before it. */
function retryAfterMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
