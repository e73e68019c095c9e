import { parse } from 'yaml';
import { z } from 'zod';
import type { Logger } from '../telemetry/logger.ts';
import { FIELD_MANAGER } from './pools/names.ts';
import { API_VERSION } from './resources/group.ts';
import { RENDER_PLANS, RENDER_POOLS } from './resources/kinds.ts';
import type { Kind, KubeObject } from './runtime/client/kube-object.ts';
import type { KubernetesApi } from './runtime/client/kubernetes-api.ts';
import { isConflict, KubernetesError } from './runtime/client/kubernetes-error.ts';

const manifestSchema = z.looseObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.enum(['RenderPlan', 'RenderPool']),
  metadata: z.looseObject({ name: z.string().min(1), namespace: z.string().min(1).optional() }),
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
 * edit it, or delete it for good. A ConfigMap records which were made. A rejected one holds up none of the others.
 *
 * @returns how many are still missing; each was logged with the reason.
 * @throws KubernetesError when the ConfigMap cannot be read or written; the next call finds what was made.
 */
export async function makeDefaultResources(
  manifests: DefaultResources,
  { api, namespace, marker, logger }: DefaultResourcesDeps,
): Promise<number> {
  const ref = { name: marker, namespace };
  const made = (await api.get(CONFIG_MAPS, ref))?.data ?? {};
  const missing = manifests.filter((manifest) => made[nameOf(manifest)] === undefined);
  const done: Record<string, string> = {};
  for (const manifest of missing) {
    const outcome = await make(api, manifest, namespace);
    if (typeof outcome === 'string') {
      logger.info({ resource: nameOf(manifest), outcome }, 'a default resource is there');
      done[nameOf(manifest)] = outcome;
    } else {
      logger.error(
        { err: outcome, resource: nameOf(manifest), namespace: manifest.metadata.namespace ?? namespace },
        'a default resource could not be made; it is tried again',
      );
    }
  }
  const count = Object.keys(done).length;
  if (count > 0) {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: ref, data: { ...made, ...done } };
    await api.apply(CONFIG_MAPS, object, { fieldManager: FIELD_MANAGER, force: true });
  }
  return missing.length - count;
}

/** @returns the outcome, or why it could not be made. */
async function make(
  api: KubernetesApi,
  manifest: Manifest,
  namespace: string,
): Promise<'made' | 'was there' | KubernetesError> {
  const kind: Kind = manifest.kind === 'RenderPlan' ? RENDER_PLANS : RENDER_POOLS;
  try {
    await api.create(kind, { ...manifest, metadata: { namespace, ...manifest.metadata } });
    return 'made';
  } catch (error) {
    if (isConflict(error)) return 'was there';
    if (error instanceof KubernetesError) return error;
    throw error;
  }
}

/** A key of the ConfigMap: `RenderPlan.free`. */
function nameOf({ kind, metadata }: Manifest): string {
  return `${kind}.${metadata.name}`;
}
