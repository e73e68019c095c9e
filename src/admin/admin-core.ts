import type { Billing } from '../billing/open-billing.ts';
import type { Core } from '../infra/core.ts';
import type { PlatenError } from '../infra/errors/registry.ts';
import type { AccountPlans } from '../tenants/accounts/account-plans.ts';
import type { Tenants } from '../tenants/open-tenants.ts';
import type { Plan } from '../tenants/plans/plan.ts';
import type { PlanSource } from '../tenants/plans/plan-source.ts';
import type { Usage } from '../tenants/usage/open-usage.ts';
import type { Callbacks } from '../work/callbacks/open-callbacks.ts';
import type { Jobs } from '../work/jobs/open-jobs.ts';
import type { RenderService } from '../work/jobs/submission/render-service.ts';
import type { Work } from '../work/open-work.ts';

/** What the administration looks at and acts on. */
export interface AdminCore
  extends Pick<Core, 'clock'>,
    Pick<Tenants, 'accounts' | 'accountService' | 'audit' | 'deletions' | 'outbox'>,
    Pick<Usage, 'counters'>,
    Pick<Jobs, 'ledger' | 'store'>,
    Pick<Callbacks, 'deliveries'>,
    Pick<Work, 'registry'> {
  readonly accountPlans: AccountPlans;
  readonly plans: PlanSource;
  readonly billing: Billing;
  readonly renders: RenderService;
  /** The error for new work of a plan at the moment; undefined while new work is accepted. */
  readonly admission: (plan: Plan) => PlatenError | undefined;
}
