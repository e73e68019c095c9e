import { ERRORS, type ErrorCode } from '../../infra/errors/registry.ts';

const QUOTA_CODES: ReadonlySet<ErrorCode> = new Set([
  'QUOTA_EXCEEDED',
  'TEST_QUOTA_EXCEEDED',
  'STORAGE_FULL',
  'PLAN_LIMIT',
]);
const TIMEOUT_CODES: ReadonlySet<ErrorCode> = new Set([
  'RENDER_TIMEOUT',
  'SELECTOR_TIMEOUT',
  'CONDITION_TIMEOUT',
]);
const RENDER_CODES: ReadonlySet<ErrorCode> = new Set([
  'URL_BLOCKED',
  'URL_UNREACHABLE',
  'TEMPLATE_ERROR',
  'DOCUMENT_LIMIT',
  'EXCEPTION_THROWN',
  'OUTPUT_TOO_LARGE',
  'EXPIRED',
]);

/** The category of an error code in the usage summary. */
export function errorCategory(code: ErrorCode): string {
  if (TIMEOUT_CODES.has(code)) return 'timeout';
  if (QUOTA_CODES.has(code)) return 'quota';
  if (code === 'CANCELLED') return 'cancelled';
  const { status } = ERRORS[code];
  if (status === 429 || status === 503) return 'capacity';
  return RENDER_CODES.has(code) || status >= 500 ? 'render' : 'validation';
}
