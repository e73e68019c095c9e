import { parse } from 'yaml';
import { z } from 'zod';
import type { PodTemplate } from '../resources/kinds.ts';
import { type RenderPoolSpec, strategySchema } from '../resources/render-pool.ts';
import { workerSelector, workersOf } from './labels.ts';
import { laidOver, podSpecProblem } from './pod-overlay.ts';

const WORKER = 'worker';
/** Time that a process has to end by itself before it is killed, in seconds. */
const GRACE_MARGIN_SECONDS = 10;

const labels = z.record(z.string(), z.string());
const environment = z.array(z.looseObject({ name: z.string() }));
const containerSchema = z.looseObject({ name: z.string(), env: environment.optional() });

const metadataSchema = z.looseObject({ labels: labels.optional(), annotations: labels.optional() });

const templateSchema = z.looseObject({
  /** Labels and annotations of every object that is made for a pool, its pods among them. */
  common: metadataSchema.optional(),
  /** Of the Deployments of pools that have none of their own. */
  strategy: strategySchema.optional(),
  /** The account of workers: one that exists, or the annotations of those that are made. */
  serviceAccount: z
    .looseObject({ name: z.string().min(1).optional(), annotations: labels.optional() })
    .optional(),
  /** `from` of an ingress rule: who may read the workers' metrics. Without any, every pod that is no worker. */
  metricsFrom: z.array(z.looseObject({})).optional(),
  metadata: metadataSchema.optional(),
  spec: z.looseObject({
    containers: z
      .array(containerSchema)
      .refine((containers) => containers.some(({ name }) => name === WORKER), `has no container ${WORKER}`),
    nodeSelector: labels.optional(),
    tolerations: z.array(z.unknown()).optional(),
    topologySpreadConstraints: z.array(z.looseObject({})).optional(),
  }),
});

/** The pod template of every worker, and what the installation sets for all pools; a pool's fields override it. */
export type WorkerTemplate = z.infer<typeof templateSchema>;

/** @param text YAML of a PodTemplateSpec with further fields. @throws an error that names each problem. */
export function parseWorkerTemplate(text: string): WorkerTemplate {
  const parsed = templateSchema.safeParse(parse(text, { version: '1.1' }));
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new Error(`the template of a worker is not valid: ${errors.join('; ')}`);
}

/** The ServiceAccount of a pool's workers that exists already; undefined when one is made for the pool. */
export function givenAccount(template: WorkerTemplate, spec: RenderPoolSpec): string | undefined {
  // A pool that says how its account is to be annotated wants one of its own.
  const ofAll = spec.serviceAccountAnnotations === undefined ? template.serviceAccount?.name : undefined;
  return spec.serviceAccountName ?? ofAll;
}

/** The pods of a pool. A podSpec that cannot be laid over them is left out. */
export function podTemplate(template: WorkerTemplate, pool: string, spec: RenderPoolSpec): PodTemplate {
  const base = template.spec;
  const selector = workerSelector(pool);
  const { affinity, runtimeClassName, priorityClassName, schedulerName, hostUsers, hostAliases } = spec;
  const spread = (spec.topologySpreadConstraints ?? base.topologySpreadConstraints ?? []).map(
    (constraint) => ({
      labelSelector: { matchLabels: selector },
      ...constraint,
    }),
  );
  const tolerations = [...(base.tolerations ?? []), ...(spec.tolerations ?? [])];
  const nodeSelector = { ...base.nodeSelector, ...spec.nodeSelector };
  const { common, metadata } = template;
  const annotations = { ...common?.annotations, ...metadata?.annotations, ...spec.podAnnotations };
  const overlay = podSpecProblem(spec.podSpec) === undefined ? (spec.podSpec ?? {}) : {};
  return {
    metadata: {
      labels: { ...common?.labels, ...metadata?.labels, ...spec.podLabels, ...selector },
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    spec: {
      ...laidOver(base, overlay),
      containers: base.containers.map((container) =>
        container.name === WORKER ? workerContainer(container, pool, spec) : container,
      ),
      serviceAccountName: givenAccount(template, spec) ?? workersOf(pool),
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds,
      ...(Object.keys(nodeSelector).length > 0 && { nodeSelector }),
      ...(tolerations.length > 0 && { tolerations }),
      ...(spread.length > 0 && { topologySpreadConstraints: spread }),
      ...(affinity !== undefined && { affinity }),
      ...(runtimeClassName !== undefined && { runtimeClassName }),
      ...(priorityClassName !== undefined && { priorityClassName }),
      ...(schedulerName !== undefined && { schedulerName }),
      ...(hostUsers !== undefined && { hostUsers }),
      ...(hostAliases !== undefined && { hostAliases }),
    },
  };
}

function workerContainer(container: z.infer<typeof containerSchema>, pool: string, spec: RenderPoolSpec) {
  const { image, resources } = spec;
  return {
    ...container,
    ...(image !== undefined && { image }),
    ...(resources !== undefined && { resources }),
    env: mergedByName([...(container.env ?? []), ...(spec.env ?? []), ...ownEnvironment(pool, spec)]),
  };
}

/** Of several variables with one name the last counts, at the position of the first. */
function mergedByName<T extends { readonly name: string }>(variables: readonly T[]): T[] {
  return [...new Map(variables.map((variable) => [variable.name, variable])).values()];
}

function ownEnvironment(pool: string, spec: RenderPoolSpec) {
  const graceMs = Math.max(0, spec.terminationGracePeriodSeconds - GRACE_MARGIN_SECONDS) * 1000;
  const fromField = (fieldPath: string) => ({ valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } } });
  return [
    { name: 'PLATEN_POOL', value: pool },
    { name: 'PLATEN_WORKER_SLOTS', value: String(spec.slotsPerWorker) },
    { name: 'PLATEN_ISOLATION', value: spec.isolation },
    { name: 'PLATEN_SANDBOX', value: spec.sandbox },
    { name: 'PLATEN_SHUTDOWN_GRACE_MS', value: String(graceMs) },
    { name: 'POD_NAME', ...fromField('metadata.name') },
    { name: 'POD_NAMESPACE', ...fromField('metadata.namespace') },
    { name: 'NODE_NAME', ...fromField('spec.nodeName') },
  ];
}
