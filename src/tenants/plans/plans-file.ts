import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import { FREE_PLAN, nameSchema, type Plan, type PlanName, planSchema } from './plan.ts';
import { BUILT_IN, type PlanSet } from './plan-source.ts';

/** A plan of a file may have any of the fields; `withOverrides` adds the others. */
export const overridesSchema = planSchema.partial().extend({
  features: planSchema.shape.features.partial().describe('What else the plan allows.').optional(),
});
export type Overrides = z.infer<typeof overridesSchema>;

const plansFileSchema = z.strictObject({
  plans: z.record(nameSchema, overridesSchema),
  pools: z.record(nameSchema, z.strictObject({ slotsPerWorker: z.int().min(1).max(256) })).optional(),
});

/** A plans file that cannot be used; the message names the file and lists every error. */
export class PlansFileError extends Error {
  constructor(path: string, problem: string, cause?: unknown) {
    super(`The plans file ${path} ${problem}`, { cause });
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
 * The built-in plans, overridden field by field by the file. A plan that is not built in takes its missing fields from
 * `free`, with the file's overrides of `free`.
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
    throw new PlansFileError(path, `is not valid:\n${parsed.error.issues.map(errorOf).join(';\n')}`);
  }
  const { plans, pools = {} } = parsed.data;
  return { plans: withOverrides(new Map(Object.entries(plans))), pools: new Map(Object.entries(pools)) };
}

/** Built-in plans with these overrides. Other plans take missing fields from `free`, with its overrides. */
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

function errorOf(issue: z.core.$ZodIssue): string {
  const why = issue.code === 'invalid_key' ? issue.issues.map(({ message }) => message) : [issue.message];
  return `  ${issue.path.join('.') || '(top)'}: ${why.join('; ')}`;
}
