import { z } from 'zod';

/** A rule in the Common Expression Language, which the API server checks on every write. */
export interface CelRule {
  readonly rule: string;
  /** For the author of the object: what is wrong and what to do about it. */
  readonly message: string;
  /** The field with the error, relative to the rule's own object. */
  readonly fieldPath?: string;
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired';
}

/** Rules for `.meta()` of the schema that they apply to. */
export function rules(...list: readonly CelRule[]) {
  return { 'x-kubernetes-validations': list };
}

/** Seconds, up to a day. */
export const seconds = (min = 0, max = 86_400) => z.int32().min(min).max(max);

/** A count of pods. The bound keeps a typing error from requesting a million of them. */
export const podCount = (min = 0) => z.int32().min(min).max(MAX_REPLICAS);
export const MAX_REPLICAS = 5000;

/** The keyword that names a type of Kubernetes' own API; the generator of the definitions puts its schema there. */
export const KUBERNETES_TYPE = 'x-platen-kubernetes-type';

/**
 * A part of Kubernetes' own API that is passed on as it is. The definition has its whole schema, so that the API server
 * refuses unknown fields of it; the rest is checked when the Deployment is applied.
 *
 * @param type its name in the client library: `V1Affinity`.
 */
export const passedOn = (type: string) => z.looseObject({}).meta({ [KUBERNETES_TYPE]: type });

/** A point in time as Kubernetes writes it. */
const time = z.string().meta({ format: 'date-time' });

/** The standard condition of Kubernetes' API conventions. */
const conditionSchema = z.object({
  type: z.string().min(1).max(316).describe('What the condition is about.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('True, False or Unknown.'),
  observedGeneration: z
    .int()
    .min(0)
    .describe('The generation of the spec that this was found for.')
    .optional(),
  lastTransitionTime: time.describe('When the status changed last.'),
  reason: z
    .string()
    .min(1)
    .max(1024)
    .describe('In one word why; every reason is in docs/reference/custom-resources.md.'),
  message: z.string().max(32_768).describe('The same for people.'),
});

/** A list that server-side apply merges by `type`. */
const conditionsSchema = z
  .array(conditionSchema)
  .max(16)
  .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] })
  .describe('Current conditions, one for each type.');

/** Fields that every status has. */
export const commonStatus = {
  observedGeneration: z
    .int()
    .min(0)
    .describe('The generation of the spec that this status speaks of.')
    .optional(),
  managedBy: z
    .string()
    .describe(
      'The installation that manages it, by namespace and name of its controller; no other writes to it.',
    )
    .optional(),
  conditions: conditionsSchema.optional(),
};

export const timeSchema = time;
