import { podFields } from '../resources/pod-fields.ts';

/** Fields that a pool has for its pods. A pod's own `resources` are another thing: those of all its containers together. */
const OWN_FIELDS = ['terminationGracePeriodSeconds', ...Object.keys(podFields)].filter(
  (field) => field !== 'resources',
);
const UNTRUSTED = 'workers render untrusted documents, and share no namespace with their node';
const OF_THE_CHART = 'of the chart, for the workers of all pools';

/** Fields of a pod that podSpec cannot have, and why. */
const RESERVED: ReadonlyMap<string, string> = new Map([
  ...OWN_FIELDS.map((field) => [field, `set spec.${field} instead`] as const),
  ['containers', "they are the controller's; set spec.image, spec.env and spec.resources instead"],
  ['initContainers', `set worker.initContainers ${OF_THE_CHART}`],
  ['ephemeralContainers', 'a Deployment has none'],
  ['volumes', `set worker.extraVolumes and worker.extraVolumeMounts ${OF_THE_CHART}`],
  ['securityContext', `set worker.podSecurityContext ${OF_THE_CHART}`],
  ['serviceAccount', 'set spec.serviceAccountName instead'],
  ['automountServiceAccountToken', 'workers have no token of the API server'],
  ['enableServiceLinks', "workers do not need the namespace's Services in their environment"],
  ['hostNetwork', UNTRUSTED],
  ['hostPID', UNTRUSTED],
  ['hostIPC', UNTRUSTED],
]);

/** Objects, lists and single values in podSpec, at any depth. */
const MAX_VALUES = 1000;
const MAX_LENGTH = 16_384;

/** Why a pool's podSpec cannot be laid over the pods; undefined when it can, or there is none. */
export function podSpecProblem(podSpec: Readonly<Record<string, unknown>> | undefined): string | undefined {
  if (podSpec === undefined) return undefined;
  const reserved = Object.keys(podSpec).flatMap((field) => {
    const why = RESERVED.get(field);
    return why === undefined ? [] : [`spec.podSpec.${field} cannot be set: ${why}.`];
  });
  if (reserved.length > 0) return reserved.join(' ');
  // First, since what has few values is not nested deeply either.
  if (hasMoreValues(podSpec, MAX_VALUES)) return `spec.podSpec has more than ${MAX_VALUES} values.`;
  const { length } = JSON.stringify(podSpec);
  return length > MAX_LENGTH
    ? `spec.podSpec has ${length} characters as JSON, and ${MAX_LENGTH} at most are allowed.`
    : undefined;
}

/** Has a stack of its own instead of recursion, because the author of the pool chooses the nesting. */
function hasMoreValues(value: unknown, most: number): boolean {
  const open = [value];
  for (let seen = 0; open.length > 0; seen += 1) {
    if (seen + open.length > most) return true;
    const next = open.pop();
    if (typeof next === 'object' && next !== null) open.push(...Object.values(next).slice(0, most));
  }
  return false;
}

/**
 * A value laid over another as by a JSON Merge Patch (RFC 7396): maps are merged, null removes a field, and everything
 * else, lists too, takes the place of what is there.
 */
export function laidOver(
  base: Readonly<Record<string, unknown>>,
  patch: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const merged = new Map(Object.entries(base));
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) merged.delete(field);
    else if (isMap(value)) merged.set(field, laidOver(mapOr(merged.get(field)), value));
    else merged.set(field, value);
  }
  return Object.fromEntries(merged);
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapOr(value: unknown): Readonly<Record<string, unknown>> {
  return isMap(value) ? value : {};
}
