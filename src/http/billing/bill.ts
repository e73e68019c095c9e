import { z } from 'zod';
import { BLOCK_SIZES, CURRENCY } from '../../billing/stripe/catalogue.ts';
import { reported } from '../../billing/stripe/stripe-errors.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import { quotaPeriod, quotaResetDate } from '../../tenants/plans/quota-period.ts';
import type { ApiDeps } from '../api-deps.ts';
import { routesOf } from '../request/route.ts';

const time = z.iso.datetime();
const count = z.int().min(0);
const cents = z.int().describe('US cents, without taxes.');
const defineRoute = routesOf({ tags: ['Billing'], auth: 'bearer' });

const bill = defineRoute('GET /user/bill', {
  right: 'bill',
  operationId: 'getBill',
  summary: 'Get the usage and the cost of the current period',
  description: 'Live renders count from their acceptance. Amounts are without taxes, discounts and credit.',
  responses: {
    200: {
      description: 'The period so far.',
      schema: z
        .strictObject({
          periodStart: time.describe('When the quota began.'),
          periodEnd: time.describe('When the quota begins anew.'),
          quota: count.describe('PDFs that the plan includes in the period.'),
          used: count.describe('PDFs made in the period with quota or blocks, and those under way.'),
          remaining: count.describe('PDFs left of the quota and of blocks.'),
          planCents: cents.describe('The price of the subscription; 0 without one.'),
          blocks: z
            .array(
              z
                .strictObject({
                  blockSize: count.describe('PDFs of the block.'),
                  priceCents: cents,
                  boughtAt: time.describe('When it was asked for.'),
                })
                .meta({ id: 'BoughtBlock' }),
            )
            .describe('Blocks beyond the quota that were bought in the period.'),
          totalCents: cents.describe('Of the plan and of the blocks bought in the period.'),
          autoOverage: z
            .strictObject({ spentCents: cents, capCents: cents })
            .nullable()
            .describe('What blocks bought automatically have cost of their cap; null while it is off.'),
          nextInvoice: z
            .strictObject({ at: time.describe('When it is due.'), amountCents: cents })
            .nullable()
            .describe('The next renewal; null without one.'),
        })
        .meta({ id: 'Bill' }),
    },
  },
}).handledBy(async ({ caller }, { billing, plans, usage, clock }: ApiDeps) => {
  const { accountId, plan, quotaWindow } = caller;
  const now = clock.now();
  const [ledger, customer, paid, { remaining }] = await Promise.all([
    billing.blockLedger.find(accountId),
    billing.store.find(accountId),
    billing.blocks.paidOf(accountId),
    usage.summary(caller, '1d', false),
  ]);
  const start = quotaWindow?.start ?? new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
  const blocks = paid
    .filter(({ createdAt, state }) => createdAt >= start && state !== 'reversed')
    .map(({ units, priceCents, createdAt }) => ({
      ...{ blockSize: units, priceCents, boughtAt: createdAt.toISOString() },
    }));
  const state = customer?.state;
  const isPaid = state !== undefined && state.plan !== null && state.currentPeriod !== null;
  const priceOf = (name: string | null) =>
    name !== null && plans.has(name) ? plans.plan(name).priceCentsPerMonth : 0;
  const planCents = isPaid ? priceOf(state.plan) : 0;
  const renews = isPaid && !state.cancelAtPeriodEnd && state.currentPeriod !== null;
  const { overage } = ledger ?? {};
  return {
    status: 200,
    json: {
      periodStart: start.toISOString(),
      periodEnd: quotaResetDate(now, quotaWindow).toISOString(),
      quota: plan.monthlyRenders,
      used: ledger?.quota?.[quotaPeriod(now, quotaWindow)] ?? 0,
      remaining,
      planCents,
      blocks,
      totalCents: blocks.reduce((sum, { priceCents }) => sum + priceCents, planCents),
      autoOverage:
        overage?.enabled && overage.allowed
          ? { spentCents: overage.spentCents, capCents: overage.capCents }
          : null,
      nextInvoice: renews
        ? {
            at: state.currentPeriod.end.toISOString(),
            amountCents: priceOf(state.scheduledPlan ?? state.plan),
          }
        : null,
    },
  };
});

const prices = defineRoute('GET /user/overage', {
  right: 'bill',
  operationId: 'listOveragePrices',
  summary: 'List the blocks of PDFs that can be bought, with their prices',
  responses: {
    200: {
      description: 'The smallest first. A price that has just been changed may come a minute later.',
      schema: z
        .strictObject({
          currency: z.string().describe('Of the prices, as `usd`.'),
          blocks: z
            .array(
              z
                .strictObject({
                  blockSize: z.literal(BLOCK_SIZES).describe('PDFs of the block.'),
                  priceCents: cents,
                })
                .meta({ id: 'OveragePrice' }),
            )
            .describe('The blocks that are sold.'),
        })
        .meta({ id: 'OveragePrices' }),
    },
  },
  errors: ['BILLING_NOT_CONFIGURED', 'RATE_LIMITED', 'UNAVAILABLE'],
}).handledBy(async (_, { billing }: ApiDeps) => {
  const { selling } = billing;
  if (selling === undefined) throw new PlatenError('BILLING_NOT_CONFIGURED');
  const blocks = await reported(() => selling.catalogue.blocks());
  return { status: 200, json: { currency: CURRENCY, blocks: [...blocks] } };
});

export const billRoutes = [bill, prices];
