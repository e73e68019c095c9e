import { z } from 'zod';
import { CATEGORY } from './group.ts';
import { podFields } from './pod-fields.ts';
import { nameRule } from './render-plan.ts';
import { COMMON_COLUMNS, column, type ResourceDefinition } from './resource-definition.ts';
import { commonStatus, MAX_REPLICAS, podCount, rules, seconds, timeSchema } from './schema-fields.ts';

const scaleDownSchema = z
  .object({
    stabilisationSeconds: seconds(0, 3600)
      .default(120)
      .describe('The pool shrinks to the largest size that was wanted within this number of seconds.'),
    maxPercent: z
      .int32()
      .min(1)
      .max(100)
      .default(50)
      .describe('The percentage of its workers that may go in one period; always at least one.'),
    periodSeconds: seconds(1, 3600).default(30).describe('Length of that period, in seconds.'),
  })
  .prefault({})
  .describe('How fast the pool shrinks. It grows at once.');

/** Pods, or a percentage of the pool's. */
const pods = (percentage: RegExp) =>
  z.union([podCount(), z.string().regex(percentage)]).meta({
    'x-kubernetes-int-or-string': true,
    minimum: 0,
    maximum: MAX_REPLICAS,
    maxLength: 4,
    pattern: percentage.source,
  });

/** In the shape of a Deployment's `strategy`. */
export const strategySchema = z
  .object({
    type: z
      .literal('RollingUpdate')
      .default('RollingUpdate')
      .describe('The only one: without a worker nothing is rendered.'),
    rollingUpdate: z
      .object({
        maxSurge: pods(/^(0|[1-9][0-9]{0,2})%$/)
          .default('25%')
          .describe('Workers that there may be beyond the size, or a percentage of it, rounded up.'),
        maxUnavailable: pods(/^(100|[1-9]?[0-9])%$/)
          .default(0)
          .describe('Workers that may lack, or a percentage of the size, rounded down.'),
      })
      .meta(
        rules({
          rule: "!(string(self.maxSurge) in ['0', '0%'] && string(self.maxUnavailable) in ['0', '0%'])",
          message: 'maxSurge and maxUnavailable must not both be 0: no worker could be replaced',
          fieldPath: '.maxUnavailable',
        }),
      )
      // Whole, since the API server checks the default by the rule.
      .default({ maxSurge: '25%', maxUnavailable: 0 })
      .describe('How many at a time.'),
  })
  .describe(
    "How a changed template reaches the workers. Without it, as the installation has it: 25% more at a time, and none less. On full nodes set maxSurge to 0 and maxUnavailable to 1. Takes the place of the installation's.",
  );

const BETWEEN = rules(
  {
    rule: 'self.minReplicas <= self.maxReplicas',
    message: 'minReplicas must not be greater than maxReplicas',
    fieldPath: '.minReplicas',
  },
  {
    rule: 'self.fallbackReplicas <= self.maxReplicas',
    message: 'fallbackReplicas must not be greater than maxReplicas',
    fieldPath: '.fallbackReplicas',
  },
  {
    rule: "self.mode == 'Automatic' || has(self.replicas)",
    message: 'replicas must be set when mode is Manual',
    reason: 'FieldValueRequired',
  },
  {
    rule: "self.mode == 'Manual' || !has(self.replicas)",
    message:
      'replicas cannot be set when mode is Automatic: the pool follows its demand; set mode to Manual, or leave replicas out',
    fieldPath: '.replicas',
    reason: 'FieldValueForbidden',
  },
  {
    rule: '!has(self.serviceAccountName) || !has(self.serviceAccountAnnotations)',
    message:
      'serviceAccountAnnotations cannot be set with serviceAccountName: the account is not made by the controller; annotate it yourself',
    fieldPath: '.serviceAccountAnnotations',
    reason: 'FieldValueForbidden',
  },
);

export const renderPoolSpecSchema = z
  .object({
    mode: z
      .enum(['Automatic', 'Manual'])
      .default('Automatic')
      .describe(
        'Automatic: sized by the demand of the plans that name the pool. Manual: sized by replicas, which kubectl scale or an autoscaler may write.',
      ),
    replicas: podCount()
      .describe(
        'Size of the pool in the mode Manual, also through the scale sub-resource. minReplicas and maxReplicas do not bind it.',
      )
      .optional(),
    minReplicas: podCount().default(1).describe('Workers that are always there; 0 lets an idle pool vanish.'),
    maxReplicas: podCount(1).default(10).describe('Workers that there are at most.'),
    slotsPerWorker: z.int32().min(1).max(256).default(2).describe('Renders that one worker runs at a time.'),
    targetUtilisation: z
      .int32()
      .min(1)
      .max(100)
      .default(100)
      .describe(
        'How full the workers shall be on average, in per cent of their slots. Headroom comes on top of it.',
      ),
    headroomSlots: z
      .int32()
      .min(0)
      .max(10_000)
      .default(2)
      .describe(
        'Slots that shall be free beyond the demand. A large pool has more, by the square root of it.',
      ),
    maxPendingPods: podCount(1).default(30).describe('Pods that may be starting at a time.'),
    fallbackReplicas: podCount()
      .default(1)
      .describe('Size of an empty pool when its demand has not been readable for a minute.'),
    scaleDown: scaleDownSchema,
    workerYoungSeconds: seconds(0, 3600)
      .default(30)
      .describe('A worker that has run for less than this is not taken away.'),
    isolation: z
      .enum(['account', 'job', 'browser'])
      .default('account')
      .meta(
        rules({
          rule: 'self == oldSelf',
          message:
            'isolation cannot be changed: during the roll-out jobs would run under either; make another pool and name it in the plans',
        }),
      )
      .describe(
        'What a render shares with others of its account: account (a warm browser context), job (a fresh context), browser (a process tree of its own). Cannot be changed.',
      ),
    sandbox: z
      .enum(['required', 'preferred', 'off'])
      .default('preferred')
      .describe(
        'Chromium\'s own sandbox. required: a worker that cannot have it does not start. preferred: it says so and goes on. "off" wants quotes in YAML.',
      ),
    terminationGracePeriodSeconds: seconds(10, 610)
      .default(330)
      .describe(
        'What a worker is given to finish its renders before it is killed; the longest deadline of a plan and a margin.',
      ),
    strategy: strategySchema.optional(),
    paused: z
      .boolean()
      .default(false)
      .describe('Maintenance: the size stays as it is, and so do the workers.'),
    ...podFields,
  })
  .meta(BETWEEN)
  .describe('How the workers of the pool are sized, what they are, and where they run.');

const renderPoolStatusSchema = z.object({
  ...commonStatus,
  replicas: z.int32().min(0).describe('Workers that are there.').optional(),
  readyReplicas: z.int32().min(0).describe('Workers that are ready.').optional(),
  desiredReplicas: z.int32().min(0).describe('The size that the Deployment was given.').optional(),
  wantedReplicas: z
    .int()
    .min(0)
    .describe('The size that the demand asks for, before every bound and delay.')
    .optional(),
  demandSlots: z.int().min(0).describe('Jobs of this pool that may run now.').optional(),
  pausedWorkers: z.int32().min(0).describe('Workers that finish what they have before they go.').optional(),
  selector: z.string().describe("Of the workers' pods, for the scale sub-resource.").optional(),
  lastScaleTime: timeSchema.describe('When the size was changed last.').optional(),
  plans: z.array(z.string()).max(10_000).describe('Plans whose jobs run here.').optional(),
});

export type RenderPoolSpec = z.infer<typeof renderPoolSpecSchema>;
export type RenderPoolStatus = z.infer<typeof renderPoolStatusSchema>;

export const RENDER_POOL: ResourceDefinition = {
  kind: 'RenderPool',
  plural: 'renderpools',
  singular: 'renderpool',
  shortNames: ['rpool'],
  categories: [CATEGORY],
  description: `RenderPool is a group of workers that renders the jobs of the plans that name it. Platen owns their Deployment, sizes it by the work that may run now, and takes workers away only when they are empty. At most ${MAX_REPLICAS} workers.`,
  spec: renderPoolSpecSchema,
  status: renderPoolStatusSchema,
  rules: [nameRule('self.metadata.name', 'The name of a pool')],
  columns: [
    column('Mode', '.spec.mode', 'Who sizes it'),
    column('Demand', '.status.demandSlots', 'Jobs that may run now', { type: 'integer' }),
    column('Desired', '.status.desiredReplicas', 'Workers wanted', { type: 'integer' }),
    column('Replicas', '.status.replicas', 'Workers there', { type: 'integer' }),
    column('Ready', '.status.readyReplicas', 'Workers ready', { type: 'integer' }),
    column('Min', '.spec.minReplicas', 'Least workers', { type: 'integer', priority: 1 }),
    column('Max', '.spec.maxReplicas', 'Most workers', { type: 'integer' }),
    column('Slots', '.spec.slotsPerWorker', 'Renders a worker runs at a time', {
      type: 'integer',
      priority: 1,
    }),
    column(
      'Scaling',
      '.status.conditions[?(@.type=="ScalingActive")].reason',
      'Whether the pool follows its demand, or why not',
    ),
    column(
      'Available',
      '.status.conditions[?(@.type=="Available")].reason',
      'Whether its workers can work, or why not',
      { priority: 1 },
    ),
    column('Last scaled', '.status.lastScaleTime', 'When its size changed', { type: 'date', priority: 1 }),
    ...COMMON_COLUMNS,
  ],
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  },
};
