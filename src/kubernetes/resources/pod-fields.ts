import { z } from 'zod';
import { passedOn } from './schema-fields.ts';

const MAX_ENTRIES = 64;
const labels = z.record(z.string(), z.string().max(256 * 1024));

/** An amount of a resource: `500m`, `2Gi`, `4`. */
const quantity = z.union([z.int(), z.string()]).meta({
  'x-kubernetes-int-or-string': true,
  pattern:
    '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
});

const toleration = z.object({
  key: z.string().describe('The taint it is for; without one, any.').optional(),
  operator: z.enum(['Exists', 'Equal']).describe('Equal when it is left out.').optional(),
  value: z.string().describe('What the taint has to be, for Equal.').optional(),
  effect: z
    .enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])
    .describe('Any when it is left out.')
    .optional(),
  tolerationSeconds: z.int().describe('How long NoExecute is borne.').optional(),
});

const environmentVariable = z.object({
  name: z.string().min(1).max(256).describe('What it is called.'),
  value: z.string().describe('What it is set to.').optional(),
  valueFrom: passedOn.describe('A field, a ConfigMap or a Secret that it is taken from.').optional(),
});

/** Fields that a pool may set on its pods. Each overrides the same field of the installation's template. */
export const podFields = {
  image: z
    .string()
    .min(1)
    .max(1024)
    .describe(
      "Image of this pool's workers, any that nodes can pull: who may write it decides what runs. Without it, that of the installation.",
    )
    .optional(),
  resources: z
    .object({
      requests: z.record(z.string(), quantity).describe('What the scheduler sets aside.').optional(),
      limits: z.record(z.string(), quantity).describe('What a worker may use at most.').optional(),
    })
    .describe("Of the worker's container; a core and 1 GiB a slot is a good start.")
    .optional(),
  nodeSelector: labels.describe('Labels that a node must have.').optional(),
  tolerations: z.array(toleration).max(MAX_ENTRIES).describe('Taints that the workers bear.').optional(),
  affinity: passedOn.describe("As in a pod's spec.").optional(),
  topologySpreadConstraints: z
    .array(
      z
        .looseObject({
          maxSkew: z.int32().min(1).describe('By how many workers two places may differ.'),
          topologyKey: z.string().min(1).describe('The label of nodes that says what a place is.'),
          whenUnsatisfiable: z
            .enum(['DoNotSchedule', 'ScheduleAnyway'])
            .describe('What to do with a worker that would make it worse.'),
        })
        .meta({ 'x-kubernetes-preserve-unknown-fields': true }),
    )
    .max(MAX_ENTRIES)
    .describe(
      "As in a pod's spec; one without a labelSelector is about the workers of this pool. Takes the place of the installation's.",
    )
    .optional(),
  runtimeClassName: z.string().min(1).max(253).describe('A RuntimeClass, such as gVisor or Kata.').optional(),
  priorityClassName: z.string().min(1).max(253).describe('A PriorityClass.').optional(),
  env: z
    .array(environmentVariable)
    .max(256)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] })
    .describe("Further variables, which take the place of the installation's of the same name.")
    .optional(),
  podLabels: labels.describe('Further labels of the pods.').optional(),
  podAnnotations: labels.describe('Further annotations of the pods.').optional(),
};
