import { z } from 'zod';
import { DEFAULT_PLANS, planSchema } from '../../src/tenants/plans/plan.ts';
import { code, facts, table } from './markdown.ts';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/** What the fields are called in the table, and how their values are written. The order is that of the page. */
const FIELDS: Readonly<
  Record<string, { readonly title: string; readonly show?: (value: number) => string }>
> = {
  monthlyRenders: { title: 'PDFs a month' },
  priceCentsPerMonth: { title: 'Price a month', show: (cents) => `$${(cents / 100).toLocaleString('en')}` },
  requestsPerMinute: { title: 'Requests a minute' },
  concurrentRenders: { title: 'Renders at a time' },
  maxBatchItems: { title: 'Documents in a batch' },
  maxWaitingJobs: { title: 'Waiting jobs' },
  maxTimeoutMs: { title: 'Longest render', show: (ms) => `${ms / 1000} s` },
  maxInputSizeBytes: { title: 'Largest request', show: bytes },
  maxOutputSizeBytes: { title: 'Largest PDF', show: bytes },
  retentionHours: {
    title: 'A PDF is kept',
    show: (hours) => `${hours / 24} days`.replace(/^1 days/, '1 day'),
  },
  maxStoredBytes: { title: 'Storage', show: bytes },
  maxActiveKeys: { title: 'API keys' },
  maxTestRendersPerDay: { title: 'Test renders a day' },
  'features.callbacks': { title: 'Callbacks' },
  'features.templateVersions': { title: 'Versions of templates' },
  'features.revealIp': { title: 'Whole addresses in the request log' },
  poolRef: { title: 'Pool of workers' },
};

/** docs/plans.md, in Markdown: the built-in plans as a table, then a block for each field. */
export function plansPage(note: string): string {
  const { features, ...fields } = planSchema.shape;
  const described = new Map<string, z.ZodType>([
    ...Object.entries(fields),
    ...Object.entries(features.shape).map(([name, schema]) => [`features.${name}`, schema] as const),
  ]);
  const unknown = [...new Set([...described.keys()].filter((name) => !(name in FIELDS)))];
  if (unknown.length > 0) throw new Error(`scripts/docs-pages/plans-page.ts lacks ${unknown.join(', ')}`);
  const names = Object.keys(DEFAULT_PLANS);
  const rows = Object.entries(FIELDS)
    .filter(([name]) => name !== 'poolRef')
    .map(([name, { title, show }]) => [
      `[${title}](#${name.toLowerCase().replace('.', '')})`,
      ...names.map((plan) => shown(builtIn(plan, name), show)),
    ]);
  const blocks = Object.entries(FIELDS).map(([name, { title }]) => {
    const schema = described.get(name);
    if (schema === undefined) throw new Error(`Plans have no ${name}`);
    return `### ${code(name)}

${schema.description ?? title}

${facts({
  Value: boundsOf(z.toJSONSchema(schema, { io: 'input' })),
  'Built in': names.map((plan) => `${plan} ${shown(builtIn(plan, name))}`).join(', '),
})}`;
  });
  return `${note}

# Plans

The plan of an account sets its limits, its features and its price. These plans are built in, and each field can be changed:

${table(['', ...names], rows)}
## Plans of your own

\`PLATEN_PLANS_FILE\` names a YAML or JSON file that overrides single fields and adds plans of any name:

\`\`\`yaml
plans:
  free: { monthlyRenders: 50 }
  gold: { concurrentRenders: 20, features: { callbacks: true }, poolRef: large }
pools:
  large: { slotsPerWorker: 8 }
\`\`\`

- A new plan inherits from \`free\` (as changed by the file) every field that it does not set.
- \`pools\` may say how many renders each worker of a pool runs at the same time.
- A change of the file takes effect in every process within two seconds.
- With an invalid file a process does not start. If the file becomes invalid later, that is logged, the metric
  \`platen_plans_file_valid\` becomes 0, and the plans stay as they were.
- If an account's plan was deleted, the limits of \`free\` apply until the plan exists again or the account has another one.

In a cluster, plans are resources (\`RenderPlan\`), which the controller copies into the database. With \`PLATEN_PLANS_FILE\` a
process uses only the file. \`platen standalone\` uses no resources.

## Fields

${blocks.join('\n')}`;
}

function builtIn(plan: string, name: string): unknown {
  return name
    .split('.')
    .reduce<unknown>((value, part) => Reflect.get(Object(value), part), Reflect.get(DEFAULT_PLANS, plan));
}

function shown(
  value: unknown,
  show: (value: number) => string = (each) => each.toLocaleString('en'),
): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'number' ? show(value) : '–';
}

function bytes(value: number): string {
  return value >= GIB ? `${value / GIB} GiB` : `${value / MIB} MiB`;
}

function boundsOf({ type, minimum, maximum }: z.core.JSONSchema.BaseSchema): string {
  if (type === 'boolean') return '`true`, `false`';
  if (type !== 'integer') return 'the name of a pool';
  return `${minimum?.toLocaleString('en')} to ${maximum?.toLocaleString('en')}`;
}
