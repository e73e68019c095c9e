import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import { DEFAULT_PLANS, PLAN_NAMES, type Plans, planSchema } from './plan.ts';

const overridesSchema = z.strictObject({
  plans: z.partialRecord(
    z.enum(PLAN_NAMES),
    planSchema.partial().extend({ features: planSchema.shape.features.partial().optional() }),
  ),
});

/**
 * The built-in plans with the overrides of a YAML or JSON file laid over them, field by field.
 *
 * @param path undefined for the built-in plans as they are.
 * @throws Error naming the file and every field that is unknown or out of bounds.
 */
export async function loadPlans(path: string | undefined): Promise<Plans> {
  if (path === undefined) return DEFAULT_PLANS;
  let content: unknown;
  try {
    content = parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new Error(`The plans file ${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  const parsed = overridesSchema.safeParse(content);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(
      (issue) => `  ${issue.path.join('.') || '(top)'}: ${issue.message}`,
    );
    throw new Error(`The plans file ${path} is not valid:\n${faults.join('\n')}`);
  }
  const plans = { ...DEFAULT_PLANS };
  for (const name of PLAN_NAMES) {
    const override = parsed.data.plans[name];
    if (override === undefined) continue;
    plans[name] = {
      ...DEFAULT_PLANS[name],
      ...override,
      features: { ...DEFAULT_PLANS[name].features, ...override.features },
    };
  }
  return plans;
}
