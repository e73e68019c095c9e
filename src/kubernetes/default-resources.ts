import { parse } from 'yaml';
import { z } from 'zod';
import type { Logger } from '../telemetry/logger.ts';
import type { Kind, KubeObject } from './client/kube-object.ts';
import type { KubernetesApi } from './client/kubernetes-api.ts';
import { isConflict, KubernetesError } from './client/kubernetes-error.ts';
import { FIELD_MANAGER } from './pools/names.ts';
import { API_VERSION } from './resources/group.ts';
import { RENDER_PLANS, RENDER_POOLS } from './resources/kinds.ts';

const manifestSchema = z.looseObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.enum(['RenderPlan', 'RenderPool']),
  metadata: z.looseObject({ name: z.string().min(1), namespace: z.string().min(1).optional() }),
});
type Manifest = z.infer<typeof manifestSchema>;

type Marker = KubeObject<{ readonly data?: Readonly<Record<string, string>> }>;
const CONFIG_MAPS: Kind<Marker> = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap' };

export interface DefaultResourcesParts {
  readonly api: KubernetesApi;
  /** Of manifests that name none, and of the marker. */
  readonly namespace: string;
  /** The ConfigMap that says what was made. */
  readonly marker: string;
  readonly logger: Pick<Logger, 'info' | 'error'>;
}

/** @param text YAML: a list of manifests. @throws an error that names each fault. */
export function parseDefaultResources(text: string): readonly Manifest[] {
  const parsed = z.array(manifestSchema).safeParse(parse(text, { version: '1.1' }) ?? []);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new Error(`the default resources are not valid: ${faults.join('; ')}`);
}

/**
 * Makes the plans and the pool that an installation begins with, each once: from then on it is the operator's, who may edit
 * it, or delete it for good. A ConfigMap remembers which were made.
 *
 * @throws KubernetesError when the API server is away; what was made is known the next time.
 */
export async function makeDefaultResources(
  manifests: readonly Manifest[],
  { api, namespace, marker, logger }: DefaultResourcesParts,
): Promise<void> {
  const ref = { name: marker, namespace };
  const made = (await api.get(CONFIG_MAPS, ref))?.data ?? {};
  const missing = manifests.filter((manifest) => made[nameOf(manifest)] === undefined);
  if (missing.length === 0) return;
  const done: Record<string, string> = { ...made };
  for (const manifest of missing) {
    const outcome = await make(api, manifest, namespace);
    if (outcome instanceof KubernetesError) {
      logger.error({ err: outcome, resource: nameOf(manifest) }, 'a default resource was refused');
      continue;
    }
    logger.info({ resource: nameOf(manifest), outcome }, 'a default resource is there');
    done[nameOf(manifest)] = outcome;
  }
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: ref, data: done };
  await api.apply(CONFIG_MAPS, object, { fieldManager: FIELD_MANAGER, force: true });
}

/** @returns what became of it, or why the API server will not have it. */
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
    if (error instanceof KubernetesError && (error.status === 400 || error.status === 422)) return error;
    throw error;
  }
}

/** A key of the ConfigMap: `RenderPlan.free`. */
function nameOf({ kind, metadata }: Manifest): string {
  return `${kind}.${metadata.name}`;
}
