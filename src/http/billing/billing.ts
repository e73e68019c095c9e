import { z } from 'zod';
import type { Selling } from '../../billing/open-billing.ts';
import { BLOCK_SIZES, SOLD_PLANS } from '../../billing/stripe/catalogue.ts';
import type { BillingAccount } from '../../billing/subscriptions/billing-store.ts';
import type { SubscriptionState } from '../../billing/subscriptions/entitlement.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import type { Account } from '../../tenants/accounts/account-store.ts';
import { FREE_PLAN, type PlanName } from '../../tenants/plans/plan.ts';
import type { Overage } from '../../work/jobs/ledger/overage.ts';
import type { ApiDeps } from '../api-deps.ts';
import { byPerson } from '../request/authenticate-bearer.ts';
import { routesOf } from '../request/route.ts';
import {
  checkoutSchema,
  hostedPageSchema,
  subscriptionSchema,
  upgradePreviewSchema,
} from './billing-schema.ts';

const defineRoute = routesOf({ tags: ['Billing'], auth: 'bearer' });
const PROVIDER_ERRORS = ['BILLING_NOT_CONFIGURED', 'RATE_LIMITED', 'UNAVAILABLE'] as const;

const subscription = defineRoute('GET /user/subscription', {
  right: 'look',
  operationId: 'getSubscription',
  summary: 'Get the subscription of the account',
  responses: { 200: { description: 'The subscription.', schema: subscriptionSchema } },
}).handledBy(async ({ caller }, deps: ApiDeps) => {
  return { status: 200, json: await subscriptionOf(caller.accountId, deps) };
});

const cancel = defineRoute('POST /user/subscription/cancel', {
  right: 'bill',
  operationId: 'cancelSubscription',
  withoutRoom: 'confirmed',
  summary: 'Cancel at the end of the period',
  description:
    'Until then nothing changes, and the subscription can be resumed. A scheduled change of plan is dropped.',
  responses: { 200: { description: 'The subscription as it is now.', schema: subscriptionSchema } },
  errors: [...PROVIDER_ERRORS, 'NOT_SUBSCRIBED'],
}).handledBy(async ({ caller, clientAddress }, deps: ApiDeps) => {
  await selling(deps).subscriptions.cancel(caller.accountId, byPerson(caller, clientAddress));
  return { status: 200, json: await subscriptionOf(caller.accountId, deps) };
});

const resume = defineRoute('POST /user/subscription/resume', {
  right: 'bill',
  operationId: 'resumeSubscription',
  summary: 'Resume the subscription',
  responses: { 200: { description: 'The subscription as it is now.', schema: subscriptionSchema } },
  errors: [...PROVIDER_ERRORS, 'NOT_SUBSCRIBED'],
}).handledBy(async ({ caller, clientAddress }, deps: ApiDeps) => {
  await selling(deps).subscriptions.resume(caller.accountId, byPerson(caller, clientAddress));
  return { status: 200, json: await subscriptionOf(caller.accountId, deps) };
});

const preview = defineRoute('GET /user/subscription/upgrade-preview', {
  right: 'bill',
  operationId: 'previewUpgrade',
  summary: 'Preview the price of a change to a higher plan',
  description: 'The price is valid for half an hour.',
  query: z.strictObject({ plan: z.enum(['free', ...SOLD_PLANS]) }),
  responses: {
    200: {
      description:
        'The amount that is due at once. Only an active subscription can be changed to a higher plan.',
      schema: upgradePreviewSchema,
    },
  },
  errors: [...PROVIDER_ERRORS, 'NOT_SOLD'],
}).handledBy(async ({ caller, query }, deps: ApiDeps) => {
  const found = await selling(deps).subscriptions.preview(caller.accountId, query.plan);
  const { period, ...rest } = found;
  return {
    status: 200,
    json: {
      ...rest,
      currentPlan: caller.planName,
      ...(period && { periodStart: period.start.toISOString(), periodEnd: period.end.toISOString() }),
    },
  };
});

const checkout = defineRoute('POST /user/checkout', {
  right: 'bill',
  operationId: 'checkOut',
  summary: 'Change to a paid plan',
  description:
    'Without a subscription, `url` is the page where the plan is paid. With one, a higher plan is charged at once and takes effect when that is paid: `url` is empty, or the page where the bank asks the customer to confirm. A lower plan begins with the next period, and `url` is empty. If a payment is overdue, `url` is the page where it is paid.',
  body: z.strictObject({ plan: z.enum(SOLD_PLANS) }),
  responses: { 200: { description: 'The address to continue at.', schema: checkoutSchema } },
  errors: [...PROVIDER_ERRORS, 'NOT_SOLD', 'PAYMENT_FAILED', 'NOT_SUBSCRIBED'],
}).handledBy(async ({ caller, body, clientAddress }, deps: ApiDeps) => {
  const url = await selling(deps).subscriptions.checkout(
    caller.accountId,
    body.plan,
    byPerson(caller, clientAddress),
  );
  const { scheduledPlan, scheduledPlanEffectiveDate } = await subscriptionOf(caller.accountId, deps);
  return {
    status: 200,
    json: {
      url,
      ...(scheduledPlan !== undefined && { scheduledPlan }),
      ...(scheduledPlanEffectiveDate !== undefined && { scheduledPlanEffectiveDate }),
    },
  };
});

const portal = defineRoute('GET /user/billing-portal', {
  right: 'bill',
  operationId: 'getBillingPortal',
  summary: 'Get a link to the billing portal',
  responses: { 200: { description: 'The address of the portal.', schema: hostedPageSchema } },
  errors: [...PROVIDER_ERRORS, 'NOT_SUBSCRIBED'],
}).handledBy(async ({ caller }, deps: ApiDeps) => {
  return { status: 200, json: { url: await selling(deps).subscriptions.portal(caller.accountId) } };
});

const blockSize = z.literal(BLOCK_SIZES);

const autoOverage = defineRoute('POST /user/subscription/auto-overage', {
  right: 'bill',
  operationId: 'setAutoOverage',
  summary: 'Turn automatic overage on or off',
  description:
    'Blocks are bought when the quota is used up. Fields that are left out keep their values; the first values are the smallest block, and a cap that allows one block. The cap is for one billing period.',
  body: z.strictObject({
    enabled: z.boolean(),
    blockSize: blockSize.optional().describe('PDFs of a block.'),
    spendCapCents: z.int().min(100).max(10_000_000).optional().describe('US cents in one billing period.'),
  }),
  responses: { 200: { description: 'The subscription as it is now.', schema: subscriptionSchema } },
  errors: [...PROVIDER_ERRORS, 'NOT_SUBSCRIBED', 'NOT_SOLD'],
}).handledBy(async ({ caller, body, clientAddress }, deps: ApiDeps) => {
  const { enabled, blockSize: size, spendCapCents: capCents } = body;
  const settings = { enabled, blockSize: size, capCents };
  await selling(deps).autoOverage.set(caller.accountId, settings, byPerson(caller, clientAddress));
  return { status: 200, json: await subscriptionOf(caller.accountId, deps) };
});

const overage = defineRoute('POST /user/overage', {
  right: 'bill',
  operationId: 'buyOverage',
  summary: 'Buy one block of PDFs beyond the quota',
  description:
    'Its PDFs can be used from the payment until the end of the next period. While the payment page is open, the same request returns the same page; a request for a block of another size closes it.',
  body: z.strictObject({ blockSize: blockSize.describe('PDFs of the block.') }),
  responses: { 200: { description: 'The page where it is paid.', schema: hostedPageSchema } },
  errors: [...PROVIDER_ERRORS, 'NOT_SOLD'],
}).handledBy(async ({ caller, body }, deps: ApiDeps) => {
  return {
    status: 200,
    json: { url: await selling(deps).blockCheckouts.buy(caller.accountId, body.blockSize) },
  };
});

export const billingRoutes = [subscription, cancel, resume, autoOverage, preview, checkout, overage, portal];

/** @throws PlatenError BILLING_NOT_CONFIGURED */
function selling({ billing }: ApiDeps): Selling {
  if (billing.selling === undefined) throw new PlatenError('BILLING_NOT_CONFIGURED');
  return billing.selling;
}

/** The stored subscription of an account, whose plan may have changed since the caller was authenticated. */
async function subscriptionOf(
  accountId: string,
  { billing, accounts }: ApiDeps,
): Promise<z.input<typeof subscriptionSchema>> {
  const [account, ledger] = await Promise.all([
    billing.store.find(accountId),
    billing.blockLedger.find(accountId),
  ]);
  // Read last, so that the plan is never older than the subscription that it follows from.
  const owner = await accounts.findNow(accountId);
  return { ...subscriptionBody(owner, account), ...autoOverageBody(ledger?.overage) };
}

function autoOverageBody(overage: Overage | undefined) {
  if (overage === undefined) return {};
  return {
    autoOverageEnabled: overage.enabled && overage.allowed,
    autoOverageBlockSize: overage.units,
    autoOverageCycleCapCents: overage.capCents,
  };
}

function subscriptionBody(
  owner: Account | undefined,
  account: BillingAccount | undefined,
): z.input<typeof subscriptionSchema> {
  const state = stateFor(owner, account);
  const plan = planFor(owner, state);
  if (state === undefined || state.status === 'none') return { status: 'none', ...(plan && { plan }) };
  const { currentPeriod, scheduledPlan, scheduledAt } = state;
  return {
    status: state.status,
    ...(plan && { plan }),
    ...(currentPeriod && { currentPeriodEnd: currentPeriod.end.toISOString() }),
    cancelAtPeriodEnd: state.cancelAtPeriodEnd,
    ...(scheduledPlan !== null && { scheduledPlan }),
    ...(scheduledAt !== null && { scheduledPlanEffectiveDate: scheduledAt.toISOString() }),
  };
}

/** The state that the plan in force follows from. A plan is in force shortly before its state is stored. */
function stateFor(owner: Account | undefined, account: BillingAccount | undefined) {
  const { state, coming } = account ?? {};
  const given = owner?.subscribed?.plan;
  return coming !== undefined && coming.inForce === given && state?.inForce !== given ? coming : state;
}

/** The plan in force; when it has changed since the state was read, the plan of that state. */
function planFor(owner: Account | undefined, state: SubscriptionState | undefined): PlanName | undefined {
  const followed = state?.inForce ?? FREE_PLAN;
  const given = owner?.subscribed?.plan;
  return followed === 'keep' || given === undefined || given === followed ? owner?.plan : followed;
}
