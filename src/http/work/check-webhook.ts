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
