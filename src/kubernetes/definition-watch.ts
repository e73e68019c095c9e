import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { KubernetesApi } from '../infra/kube/client/kubernetes-api.ts';
import type { Logger } from '../infra/telemetry/logger.ts';
import { BUILD } from '../infra/version.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import { API_VERSION } from './resources/group.ts';
import { RENDER_PLAN } from './resources/render-plan.ts';
import { RENDER_POOL } from './resources/render-pool.ts';
import type { ResourceDefinition } from './resources/resource-definition.ts';

/** In milliseconds. A definition is replaced by a person or a release, a few times a year. */
const EVERY_MS = 300_000;

/** As much of a schema of OpenAPI as is compared. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
}

interface OpenApi {
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

interface Deps {
  readonly api: Pick<KubernetesApi, 'openApi'>;
  readonly metrics: Pick<ControllerMetrics, 'definitionOutdated'>;
  readonly logger: Logger;
}

/**
 * Compares the installed definitions with those of this version, until the signal aborts: fields that a definition lacks are
 * dropped by the API server without a word, of what people write and of what the controller reports.
 *
 * The fields are compared as the API server publishes them to every account (/openapi/v3), because a
 * CustomResourceDefinition, whose label has its version, belongs to the cluster, and the controller has rights in namespaces
 * alone. Never rejects.
 */
export async function watchDefinitions({ api, metrics, logger }: Deps, signal: AbortSignal): Promise<void> {
  let reported: string | undefined;
  while (!signal.aborted) {
    try {
      const missing = await missingFields(api, signal);
      for (const [kind, fields] of missing)
        metrics.definitionOutdated.set({ kind }, fields.length > 0 ? 1 : 0);
      const outdated = Object.fromEntries([...missing].filter(([, fields]) => fields.length > 0));
      const found = JSON.stringify(outdated);
      if (found !== reported && found !== '{}') {
        logger.warn(
          { missing: outdated, version: BUILD.version },
          'definitions of custom resources are older than this controller: install those of its version',
        );
      }
      reported = found;
    } catch (err) {
      if (signal.aborted) return;
      // Also a cluster in which accounts may not read what the API server publishes: then nobody compares them.
      metrics.definitionOutdated.reset();
      if (reported !== 'unknown')
        logger.info({ err }, 'the definitions of custom resources cannot be compared');
      reported = 'unknown';
    }
    await sleep(EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

async function missingFields(
  api: Pick<KubernetesApi, 'openApi'>,
  signal: AbortSignal,
): Promise<Map<string, string[]>> {
  const { components } = (await api.openApi(API_VERSION, { signal })) as OpenApi;
  const served = Object.entries(components?.schemas ?? {});
  return new Map(
    [RENDER_PLAN, RENDER_POOL].map((definition) => {
      const [, schema] = served.find(([name]) => name.endsWith(`.${definition.kind}`)) ?? [];
      return [definition.kind, lackingIn(ownSchema(definition), schema, '')];
    }),
  );
}

function ownSchema({ spec, status }: ResourceDefinition): Schema {
  const schemaOf = (type: z.ZodType) =>
    z.toJSONSchema(type, { io: 'input', target: 'openapi-3.0', unrepresentable: 'any' }) as Schema;
  return { properties: { spec: schemaOf(spec), status: schemaOf(status) } };
}

/** @returns the paths of the fields that only the own schema has, without those below them. */
function lackingIn(own: Schema, served: Schema | undefined, path: string): string[] {
  if (served?.['x-kubernetes-preserve-unknown-fields'] === true) return [];
  const fields = Object.entries(own.properties ?? {}).flatMap(([name, field]) => {
    const at = path === '' ? name : `${path}.${name}`;
    const there = served?.properties?.[name];
    return there === undefined ? [at] : lackingIn(field, there, at);
  });
  const items = own.items === undefined ? [] : lackingIn(own.items, served?.items, `${path}[]`);
  return [...fields, ...items];
}
