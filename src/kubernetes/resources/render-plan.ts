import { z } from 'zod';
import { overridesSchema } from '../../tenants/plans/plans-file.ts';
import { CATEGORY } from './group.ts';
import { COMMON_COLUMNS, column, type ResourceDefinition } from './resource-definition.ts';
import { commonStatus, rules } from './schema-fields.ts';

/** The rule of `nameSchema` (plans/plan.ts) for a field that names a plan or a pool. */
export const nameRule = (path: string, what: string) => ({
  rule: `${path}.matches('^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$')`,
  message: `${what} must be 1 to 63 lower-case letters, digits, "-" and ".", and begin and end with a letter or digit`,
});

/**
 * The spec of a RenderPlan: any of the fields of a plan. A missing field has the value of the built-in plan of its
 * name, or else of the plan `free`, as in a plans file.
 */
export const renderPlanSpecSchema = overridesSchema
  .extend({
    // In words instead of as a pattern, which kubectl would show as it is.
    poolRef: z
      .string()
      .min(1)
      .max(63)
      .meta(rules(nameRule('self', 'poolRef')))
      .describe(
        'The RenderPool whose workers run the jobs of this plan; without it, default. While there is no such pool, default stands in.',
      )
      .optional(),
  })
  .describe(
    'What an account with this plan may do. A field that is left out is as in the built-in plan of this name, or else as in the plan free.',
  );

const renderPlanStatusSchema = z.object({
  ...commonStatus,
  inForce: overridesSchema
    .describe(
      'The limits that are in force: those of the spec with what it leaves out, or the last valid ones.',
    )
    .optional(),
  pool: z.string().describe('The pool that runs the jobs of this plan now.').optional(),
  accounts: z.int().min(0).describe('Accounts that have this plan.').optional(),
  inFlight: z.int().min(0).describe('Plan slots that their jobs hold.').optional(),
  waiting: z.int().min(0).describe('Jobs that wait for a slot.').optional(),
  demand: z
    .int()
    .min(0)
    .describe('Jobs that may run now: in flight, and those waiting for which there is capacity.')
    .optional(),
});

export type RenderPlanSpec = z.infer<typeof renderPlanSpecSchema>;
export type RenderPlanStatus = z.infer<typeof renderPlanStatusSchema>;

export const RENDER_PLAN: ResourceDefinition = {
  kind: 'RenderPlan',
  plural: 'renderplans',
  singular: 'renderplan',
  shortNames: ['rplan'],
  categories: [CATEGORY],
  description:
    'RenderPlan says what an account may do: its limits, its features, and the pool of workers that runs its jobs. An edit is in force in every process within two seconds. Platen keeps a plan for as long as accounts are on it.',
  spec: renderPlanSpecSchema,
  status: renderPlanStatusSchema,
  rules: [nameRule('self.metadata.name', 'The name of a plan')],
  columns: [
    column('Pool', '.status.pool', 'Runs its jobs'),
    column('Concurrent', '.status.inForce.concurrentRenders', 'Renders of one account at a time', {
      type: 'integer',
    }),
    column('Monthly', '.status.inForce.monthlyRenders', 'PDFs a month', { type: 'integer' }),
    column('Accounts', '.status.accounts', 'Accounts on the plan', { type: 'integer' }),
    column('In flight', '.status.inFlight', 'Slots taken', { type: 'integer' }),
    column('Waiting', '.status.waiting', 'Jobs without a slot', { type: 'integer' }),
    ...COMMON_COLUMNS,
  ],
};
