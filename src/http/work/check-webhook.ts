import type { Clock } from '../../infra/clock.ts';
import { endOfSignedUrl } from '../../infra/egress/signed-url.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import type { Plan } from '../../tenants/plans/plan.ts';
import type { ApiDeps } from '../api-deps.ts';

/**
 * Checks the address of a callback before the work is accepted.
 *
 * @throws PlatenError PLAN_LIMIT for a plan without callbacks; INVALID_URL or URL_BLOCKED for an address that may not
 * be called.
 */
export function checkWebhook(
  webhookUrl: string | undefined,
  plan: Plan,
  deps: Pick<ApiDeps, 'checkCallbackUrl'>,
): void {
  if (webhookUrl === undefined) return;
  if (!plan.features.callbacks) throw new PlatenError('PLAN_LIMIT', 'webhookUrl: the plan has no callbacks.');
  deps.checkCallbackUrl(webhookUrl);
}

/** The time for which the address of an upload has to be valid at least, in milliseconds. */
const LEAST_VALID_MS = 60_000;

/**
 * Checks the address of an upload before the work is accepted.
 *
 * @param field the field of the request that has it.
 * @throws PlatenError PLAN_LIMIT for a plan without callbacks; INVALID_URL or URL_BLOCKED for an address that may not be
 * reached; UPLOAD_URL_EXPIRED for one whose signature ends within a minute.
 */
export function checkUpload(
  uploadUrl: string | undefined,
  plan: Plan,
  deps: Pick<ApiDeps, 'checkCallbackUrl'> & { readonly clock: Clock },
  field = 'uploadUrl',
): void {
  if (uploadUrl === undefined) return;
  if (!plan.features.callbacks) throw new PlatenError('PLAN_LIMIT', `${field}: the plan has no uploads.`);
  deps.checkCallbackUrl(uploadUrl, field);
  const ends = endOfSignedUrl(uploadUrl);
  if (ends === undefined || ends.getTime() >= deps.clock.now().getTime() + LEAST_VALID_MS) return;
  const message = `${field}: is valid until ${ends.toISOString()} and has to be for a minute at least.`;
  throw new PlatenError('UPLOAD_URL_EXPIRED', message);
}
