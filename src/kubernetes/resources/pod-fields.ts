import { z } from 'zod';
import { passedOn, rules } from './schema-fields.ts';

const MAX_ENTRIES = 64;
const labels = z.record(z.string(), z.string().max(256 * 1024));

/** An amount of a resource: `500m`, `2Gi`, `4`. */
const quantity = z.union([z.int(), z.string()]).meta({
  'x-kubernetes-int-or-string': true,
  maxLength: 64,
  pattern:
    '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
});

/** Amounts by resource, such as `cpu` and `memory`; the bound is for the rule that compares two of them. */
const amounts = z.record(z.string(), quantity).meta({ maxProperties: 32 });

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
  valueFrom: passedOn('V1EnvVarSource')
    .describe('A field, a ConfigMap or a Secret that it is taken from.')
    .optional(),
});

/** An amount may be a number or a text; both are read as quantities. */
const NOT_MORE_THAN_LIMITS =
  '!has(self.requests) || !has(self.limits) || self.requests.all(name, !(name in self.limits) || quantity(string(self.requests[name])).compareTo(quantity(string(self.limits[name]))) <= 0)';

const hostAlias = z.object({
  ip: z.string().min(1).max(64).describe('The address.'),
  hostnames: z.array(z.string().max(253)).max(MAX_ENTRIES).describe('Names that lead to it.').optional(),
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
      requests: amounts.describe('What the scheduler sets aside.').optional(),
      limits: amounts.describe('What a worker may use at most.').optional(),
    })
    .meta(
      rules({
        rule: NOT_MORE_THAN_LIMITS,
        message: 'resources.requests must not be greater than resources.limits',
        fieldPath: '.requests',
      }),
    )
    .describe("Of the worker's container; a core and 1 GiB a slot is a good start.")
    .optional(),
  nodeSelector: labels.describe('Labels that a node must have.').optional(),
  tolerations: z.array(toleration).max(MAX_ENTRIES).describe('Taints that the workers bear.').optional(),
  affinity: passedOn('V1Affinity').describe("As in a pod's spec.").optional(),
  topologySpreadConstraints: z
    .array(passedOn('V1TopologySpreadConstraint'))
    .max(MAX_ENTRIES)
    .describe(
      "As in a pod's spec; one without a labelSelector is about the workers of this pool. Takes the place of the installation's.",
    )
    .optional(),
  runtimeClassName: z.string().min(1).max(253).describe('A RuntimeClass, such as gVisor or Kata.').optional(),
  priorityClassName: z.string().min(1).max(253).describe('A PriorityClass.').optional(),
  schedulerName: z
    .string()
    .min(1)
    .max(253)
    .describe('A scheduler other than that of the cluster.')
    .optional(),
  hostUsers: z
    .boolean()
    .describe('false gives each worker a user namespace of its own, in which Chromium has no sandbox.')
    .optional(),
  hostAliases: z
    .array(hostAlias)
    .max(MAX_ENTRIES)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['ip'] })
    .describe("Addresses of names, before any name service. Takes the place of the installation's.")
    .optional(),
  serviceAccountName: z
    .string()
    .min(1)
    .max(253)
    .describe("A ServiceAccount of the pool's namespace, which then is not made for the pool.")
    .optional(),
  serviceAccountAnnotations: labels
    .describe(
      "Annotations of the ServiceAccount that is made for the pool, such as a cloud's role. They are added to the installation's.",
    )
    .optional(),
  env: z
    .array(environmentVariable)
    .max(256)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] })
    .describe("Further variables, which take the place of the installation's of the same name.")
    .optional(),
  podLabels: labels.describe('Further labels of the pods.').optional(),
  podAnnotations: labels.describe('Further annotations of the pods.').optional(),
  podSpec: z
    .record(z.string(), z.unknown())
    .meta({ 'x-kubernetes-preserve-unknown-fields': true, maxProperties: 32 })
    .describe(
      "Any other field of a pod's spec, laid over the pods by JSON Merge Patch (lists are replaced); 1,000 values and 16,384 characters at most. It is checked when the Deployment is applied: the condition WorkersApplied says what is wrong. Fields of the pool itself, containers, volumes, security contexts and namespaces of the host cannot be set.",
    )
    .optional(),
};
