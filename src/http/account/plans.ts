import { z } from 'zod';
import { SOLD_PLANS } from '../../billing/stripe/catalogue.ts';
import { FREE_PLAN, nameSchema, planSchema } from '../../tenants/plans/plan.ts';
import type { ApiDeps } from '../api-deps.ts';
import { routesOf } from '../request/route.ts';

const defineRoute = routesOf({ tags: ['Billing'], auth: 'bearer' });

const planRow = z
  .strictObject({
    name: nameSchema,
    current: z.boolean().describe('Whether the account has it.'),
    sold: z.boolean().describe('Whether it can be bought here.'),
    limits: planSchema.omit({ poolRef: true, priceCentsPerMonth: true }),
    priceCentsPerMonth: planSchema.shape.priceCentsPerMonth,
  })
  .meta({ id: 'PlanRow' });

const list = defineRoute('GET /user/plans', {
  right: 'look',
  operationId: 'listPlans',
  summary: 'List the plans that the account can choose from',
  responses: {
    200: {
      description: 'The cheapest first.',
      schema: z.strictObject({ current: nameSchema, plans: z.array(planRow) }).meta({ id: 'PlanList' }),
    },
  },
}).handledBy(({ caller }, { plans, billing }: ApiDeps) => {
  const { planName } = caller;
  // Other plans were agreed with single customers: not even their names are shown.
  const names = [...new Set([FREE_PLAN, ...SOLD_PLANS, planName])];
  const isSold = (name: string) => billing.selling !== undefined && SOLD_PLANS.some((sold) => sold === name);
  const rows = names
    .filter((name) => plans.has(name) || name === planName)
    .map((name) => {
      const { poolRef: _, priceCentsPerMonth, ...limits } = plans.plan(name);
      return { name, current: name === planName, sold: isSold(name), limits, priceCentsPerMonth };
    })
    .sort((a, b) => a.priceCentsPerMonth - b.priceCentsPerMonth);
  return { status: 200, json: { current: planName, plans: rows } };
});

export const planRoutes = [list];
