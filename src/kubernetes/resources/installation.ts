import { type Kind, type KubeObject, keyOf } from '../../infra/kube/client/kube-object.ts';
import type { KubernetesApi } from '../../infra/kube/client/kubernetes-api.ts';
import { DEFAULT_POOL } from '../../tenants/plans/names.ts';
import { DEFAULT_PLANS } from '../../tenants/plans/plan.ts';
import { GROUP } from './group.ts';

/** On every object that a controller makes: the `id` of its installation. On a plan or a pool it says who manages it. */
export const INSTALLATION = `${GROUP}/installation`;

/** An installation of Platen, as its controller knows it. */
export interface Installation {
  /** Namespace and name of the Lease by which its controller leads: `platen/platen-controller`. */
  readonly id: string;
  /** The namespace whose plans and pools may have built-in names. */
  readonly home: string;
}

/** @param watched the namespaces whose plans and pools the controller manages. */
export function installationOf(namespace: string, lease: string, watched: readonly string[]): Installation {
  const home = watched.includes(namespace) ? namespace : (watched[0] ?? namespace);
  return { id: keyOf({ namespace, name: lease }), home };
}

type Managed = KubeObject<{ readonly status?: { readonly managedBy?: string } }>;

/** The installation that the annotation of a plan or a pool names: it alone may claim the object from another. */
export function assigneeOf({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[INSTALLATION] || undefined;
}

/**
 * The installation that manages a plan or a pool: the one that has claimed it, or else the one that alone may. An object
 * that was handed over is managed by the former one until the other has claimed it: a name that is nobody's must not stop
 * the work on a pool. Undefined while nobody manages it and everybody may claim it.
 */
export function managerOf(object: Managed): string | undefined {
  return object.status?.managedBy || assigneeOf(object);
}

/** Whether a plan or a pool is for this installation to manage: it does, it is to take it over, or nobody does yet. */
export function isManageable(object: Managed, installation: Installation): boolean {
  return isAssigned(object, installation) || (managerOf(object) ?? installation.id) === installation.id;
}

/** Whether somebody has assigned a plan or a pool to this installation by its annotation. */
export function isAssigned(object: KubeObject, { id }: Installation): boolean {
  return assigneeOf(object) === id;
}

/**
 * Records in the status of a plan or a pool that this installation manages it, before anything else of it is written.
 *
 * @returns the object as it is afterwards; itself where it was claimed before.
 * @throws KubernetesError 409 when it has changed since, as by the claim of another installation.
 */
export async function claim<T extends Managed>(
  api: KubernetesApi,
  kind: Kind<T>,
  object: T,
  { id }: Installation,
  fieldManager: string,
  signal: AbortSignal,
): Promise<T> {
  if (object.status?.managedBy === id) return object;
  const { resourceVersion } = object.metadata;
  const patch = { metadata: { resourceVersion }, status: { managedBy: id } };
  return api.mergePatch(kind, object.metadata, patch, { subresource: 'status', fieldManager, signal });
}

/** Whether a name is built in, and the object is not where such a name counts. */
export function hasReservedName({ kind, metadata }: KubeObject, { home }: Installation): boolean {
  const isBuiltIn =
    kind === 'RenderPool' ? metadata.name === DEFAULT_POOL : Object.hasOwn(DEFAULT_PLANS, metadata.name);
  return isBuiltIn && metadata.namespace !== undefined && metadata.namespace !== home;
}
