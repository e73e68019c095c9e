import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import { FREE_PLAN, nameSchema, type Plan, type PlanName, planSchema } from './plan.ts';
import { BUILT_IN, type PlanSet } from './plan-source.ts';

/** What a plan may say: any of the fields. `withOverrides` adds the rest. */
export const overridesSchema = planSchema.partial().extend({
  features: planSchema.shape.features.partial().describe('What else the plan allows.').optional(),
});
export type Overrides = z.infer<typeof overridesSchema>;

const plansFileSchema = z.strictObject({
  plans: z.record(nameSchema, overridesSchema),
  pools: z.record(nameSchema, z.strictObject({ slotsPerWorker: z.int().min(1).max(256) })).optional(),
});

/** A plans file that cannot be used; the message names it and lists every fault. */
export class PlansFileError extends Error {
  constructor(path: string, fault: string, cause?: unknown) {
    super(`The plans file ${path} ${fault}`, { cause });
    this.name = 'PlansFileError';
  }
}

/** @throws PlansFileError */
export async function readPlansFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new PlansFileError(path, `cannot be read: ${(error as Error).message}`, error);
  }
}

/**
 * The built-in plans with what the file says laid over them, field by field. A plan that is not built in takes what it
 * does not say from `free`, as the file leaves that.
 *
 * @param path for the message of the error.
 * @param text YAML or JSON.
 * @throws PlansFileError naming every field that is unknown or out of bounds.
 */
export function parsePlansFile(path: string, text: string): PlanSet {
  let content: unknown;
  try {
    content = parse(text);
  } catch (error) {
    throw new PlansFileError(path, `cannot be read: ${(error as Error).message}`, error);
  }
  const parsed = plansFileSchema.safeParse(content);
  if (!parsed.success) {
    throw new PlansFileError(path, `is not valid:\n${parsed.error.issues.map(faultOf).join(';\n')}`);
  }
  const { plans, pools = {} } = parsed.data;
  return { plans: withOverrides(new Map(Object.entries(plans))), pools: new Map(Object.entries(pools)) };
}

/**
 * The built-in plans with these laid over them. A plan that is not built in takes what it does not say from `free`, as that
 * is then.
 */
export function withOverrides(given: ReadonlyMap<PlanName, Overrides>): ReadonlyMap<PlanName, Plan> {
  const plans = new Map(BUILT_IN.plans);
  const free = overridden(plans.get(FREE_PLAN)!, given.get(FREE_PLAN));
  plans.set(FREE_PLAN, free);
  for (const [name, overrides] of given) {
    if (name !== FREE_PLAN) plans.set(name, overridden(plans.get(name) ?? free, overrides));
  }
  return plans;
}

function overridden(plan: Plan, overrides: Overrides | undefined): Plan {
  return { ...plan, ...overrides, features: { ...plan.features, ...overrides?.features } };
}

function faultOf(issue: z.core.$ZodIssue): string {
  const why = issue.code === 'invalid_key' ? issue.issues.map(({ message }) => message) : [issue.message];
  return `  ${issue.path.join('.') || '(top)'}: ${why.join('; ')}`;
}
