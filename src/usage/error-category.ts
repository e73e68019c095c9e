import { ERRORS, type ErrorCode } from '../errors/registry.ts';

const QUOTA_CODES: ReadonlySet<ErrorCode> = new Set([
  'QUOTA_EXCEEDED',
  'TEST_QUOTA_EXCEEDED',
  'STORAGE_FULL',
  'PLAN_LIMIT',
]);
const RENDER_CODES: ReadonlySet<ErrorCode> = new Set([
  'URL_BLOCKED',
  'URL_UNREACHABLE',
  'TEMPLATE_ERROR',
  'DOCUMENT_LIMIT',
  'OUTPUT_TOO_LARGE',
  'EXPIRED',
]);

/** What kind of failure a code counts as in the usage summary. */
export function errorCategory(code: ErrorCode): string {
  if (code === 'RENDER_TIMEOUT' || code === 'SELECTOR_TIMEOUT') return 'timeout';
  if (QUOTA_CODES.has(code)) return 'quota';
  if (code === 'CANCELLED') return 'cancelled';
  const { status } = ERRORS[code];
  if (status === 429 || status === 503) return 'capacity';
  return RENDER_CODES.has(code) || status >= 500 ? 'render' : 'validation';
}
