import { ERRORS, type ErrorCode } from '../errors/registry.ts';

const RENDER_CODES: ReadonlySet<ErrorCode> = new Set([
  'URL_BLOCKED',
  'URL_UNREACHABLE',
  'TEMPLATE_ERROR',
  'OUTPUT_TOO_LARGE',
  'EXPIRED',
]);

/** What kind of failure a code counts as in the usage summary. */
export function errorCategory(code: ErrorCode): string {
  if (code === 'RENDER_TIMEOUT' || code === 'SELECTOR_TIMEOUT') return 'timeout';
  if (code === 'QUOTA_EXCEEDED' || code === 'PLAN_LIMIT') return 'quota';
  if (code === 'CANCELLED') return 'cancelled';
  const { status } = ERRORS[code];
  if (status === 429 || status === 503) return 'capacity';
  return RENDER_CODES.has(code) || status >= 500 ? 'render' : 'validation';
}
