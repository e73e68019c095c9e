import { GROUP } from '../resources/group.ts';

/** The controller's name in `managedFields`. */
export const FIELD_MANAGER = 'platen-controller';
export const POOL_LABEL = `${GROUP}/pool`;
export const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by';
export const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
/** The deletion cost of an empty worker that is to go; other workers have none, which counts as 0. */
export const VICTIM_COST = '-1000';

/** The name of the Deployment of a pool, and of the other objects of the pool. */
export function workersOf(pool: string): string {
  return `platen-pool-${pool}`;
}

/** Selects the workers of a pool; the selector of a Deployment can never be changed. */
export function workerSelector(pool: string): Readonly<Record<string, string>> {
  return {
    'app.kubernetes.io/name': 'platen',
    'app.kubernetes.io/component': 'worker',
    [POOL_LABEL]: pool,
  };
}

/** The same labels as a text, as the scale subresource needs it. */
export function selectorText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
}

/**
 * The labels of every object that the controller makes for a pool. `app.kubernetes.io/instance` is not among them: Argo
 * CD, where it tracks by that label, prunes what has it and is not in Git.
 */
export function ownLabels(pool: string): Readonly<Record<string, string>> {
  return { ...workerSelector(pool), [MANAGED_BY_LABEL]: FIELD_MANAGER };
}
