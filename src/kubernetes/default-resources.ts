import { parse } from 'yaml';
import { z } from 'zod';
import type { EventRecorder } from '../infra/kube/client/event-recorder.ts';
import type { Kind, KubeObject } from '../infra/kube/client/kube-object.ts';
import type { KubernetesApi } from '../infra/kube/client/kubernetes-api.ts';
import { isConflict, KubernetesError } from '../infra/kube/kubernetes-error.ts';
import type { Logger } from '../infra/telemetry/logger.ts';
import { FIELD_MANAGER } from './pools/labels.ts';
import { EVENTS } from './resources/events.ts';
import { API_VERSION } from './resources/group.ts';
import { INSTALLATION, type Installation } from './resources/installation.ts';
import { RENDER_PLANS, RENDER_POOLS } from './resources/kinds.ts';

const manifestSchema = z.looseObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.enum(['RenderPlan', 'RenderPool']),
  metadata: z.looseObject({
    name: z.string().min(1),
    namespace: z.string().min(1).optional(),
    labels: z.record(z.string(), z.string()).optional(),
    annotations: z.record(z.string(), z.string()).optional(),
  }),
});
type Manifest = z.infer<typeof manifestSchema>;

export type DefaultResources = readonly Manifest[];

type Marker = KubeObject<{ readonly data?: Readonly<Record<string, string>> }>;
const CONFIG_MAPS: Kind<Marker> = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap' };

interface DefaultResourcesDeps {
  readonly api: KubernetesApi;
  /** For manifests without a namespace, and for the marker. */
  readonly namespace: string;
  /** The ConfigMap that records what was made. */
  readonly marker: string;
  readonly installation: Installation;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly logger: Pick<Logger, 'info' | 'error'>;
}

/** @param text YAML: a list of manifests. @throws an error that names each problem. */
export function parseDefaultResources(text: string): DefaultResources {
  const parsed = z.array(manifestSchema).safeParse(parse(text, { version: '1.1' }) ?? []);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new Error(`the default resources are not valid: ${errors.join('; ')}`);
}

/**
 * Makes the plans and the pool that an installation begins with, each once: from then on it is the operator's, who may
 * edit it, or delete it for good. A ConfigMap records which were made. A rejected one holds up none of the others: an
 * unknown field is rejected too, since a misspelt limit would otherwise be dropped in silence.
 *
 * @param known why each was rejected before, by name; a reason is logged and reported as an event when it is new.
 * @returns how many are still missing.
 * @throws KubernetesError when the ConfigMap cannot be read or written; the next call finds what was made.
 */
export async function makeDefaultResources(
  manifests: DefaultResources,
  { api, namespace, marker, installation, events, logger }: DefaultResourcesDeps,
  known: Map<string, string> = new Map(),
): Promise<number> {
  const ref = { name: marker, namespace };
  const made = (await api.get(CONFIG_MAPS, ref))?.data ?? {};
  const missing = manifests.filter((manifest) => made[nameOf(manifest)] === undefined);
  const done: Record<string, string> = {};
  for (const manifest of missing) {
    const resource = nameOf(manifest);
    const object = objectOf(manifest, namespace, installation);
    const outcome = await make(api, object);
    if (typeof outcome === 'string') {
      logger.info({ resource, outcome }, 'a default resource is there');
      done[resource] = outcome;
    } else if (known.get(resource) !== outcome.message) {
      known.set(resource, outcome.message);
      const where = { resource, namespace: object.metadata.namespace };
      logger.error({ err: outcome, ...where }, 'a default resource could not be made; it is tried again');
      const reason = 'DefaultRefused';
      const note = `The ${manifest.kind} ${manifest.metadata.name} of defaultResources could not be made: ${outcome.message}`;
      events.record(object, { type: EVENTS[reason].type, reason, action: 'Create', note });
    }
  }
  const count = Object.keys(done).length;
  if (count > 0) {
    // The manifests have what every object of the installation has, which a policy may ask for.
    const { labels, annotations } = manifests[0]?.metadata ?? {};
    const metadata = {
      ...ref,
      ...(labels && { labels }),
      annotations: { ...annotations, [INSTALLATION]: installation.id },
    };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { ...made, ...done } };
    await api.apply(CONFIG_MAPS, object, { fieldManager: FIELD_MANAGER, force: true });
  }
  return missing.length - count;
}

/** @returns the outcome, or why it could not be made. */
async function make(api: KubernetesApi, object: KubeObject): Promise<'made' | 'was there' | KubernetesError> {
  const kind: Kind = object.kind === 'RenderPlan' ? RENDER_PLANS : RENDER_POOLS;
  try {
    await api.create(kind, object, { fieldManager: FIELD_MANAGER, fieldValidation: 'Strict' });
    return 'made';
  } catch (error) {
    if (isConflict(error)) return 'was there';
    if (error instanceof KubernetesError) return error;
    throw error;
  }
}

function objectOf(manifest: Manifest, namespace: string, { id }: Installation): KubeObject {
  const annotations = { [INSTALLATION]: id, ...manifest.metadata.annotations };
  return { ...manifest, metadata: { namespace, ...manifest.metadata, annotations } };
}

/** A key of the ConfigMap: `RenderPlan.free`. */
function nameOf({ kind, metadata }: Manifest): string {
  return `${kind}.${metadata.name}`;
}
