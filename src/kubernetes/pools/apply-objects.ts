import {
  DEPLOYMENTS,
  type Deployment,
  DISRUPTION_BUDGETS,
  NETWORK_POLICIES,
  type PlainObject,
  type RenderPool,
  SERVICE_ACCOUNTS,
} from '../resources/kinds.ts';
import { applyWhenChanged } from '../runtime/client/apply.ts';
import type { Informer } from '../runtime/client/informer.ts';
import { type Kind, type KubeObject, keyOf } from '../runtime/client/kube-object.ts';
import type { KubernetesApi } from '../runtime/client/kubernetes-api.ts';
import { KubernetesError } from '../runtime/client/kubernetes-error.ts';
import { FIELD_MANAGER } from './names.ts';
import { isForeign, type OwnedObjects } from './owned-objects.ts';
import type { Outcome } from './pool-status.ts';

/** The caches of the objects that pools own. */
export interface OwnedInformers {
  readonly deployments: Informer<Deployment>;
  readonly budgets: Informer<PlainObject>;
  readonly policies: Informer<PlainObject>;
  readonly accounts: Informer<PlainObject>;
}

/** The last applied state of an object: applying it again at the same generation would change nothing. */
interface Applied {
  readonly wanted: string;
  readonly generation: number | undefined;
}

interface ApplyResult extends Outcome {
  /** Objects that other clients had changed or deleted. */
  readonly healed: readonly string[];
  /** Whether the Deployment is as it should be. */
  readonly deploymentApplied: boolean;
}

/** Statuses that an early repetition will not change: the object or the rights have to change first. */
const REJECTIONS: ReadonlySet<number> = new Set([400, 403, 413, 422]);

/** Makes and corrects the objects of pools, by server-side apply where something differs. */
export class ObjectApplier {
  readonly #api: KubernetesApi;
  readonly #informers: OwnedInformers;
  readonly #applied = new Map<string, Applied>();

  constructor(api: KubernetesApi, informers: OwnedInformers) {
    this.#api = api;
    this.#informers = informers;
  }

  /**
   * Applies the Deployment last, since its pods need the other objects. An object of another owner is left alone, and
   * so is everything that the API server rejects.
   *
   * @throws KubernetesError for errors that may not recur.
   */
  async apply(pool: RenderPool, wanted: OwnedObjects, signal: AbortSignal): Promise<ApplyResult> {
    const { deployments, budgets, policies, accounts } = this.#informers;
    const healed: string[] = [];
    const steps = [
      () => this.#one(SERVICE_ACCOUNTS, accounts, pool, wanted.serviceAccount, healed, signal),
      () =>
        wanted.networkPolicy &&
        this.#one(NETWORK_POLICIES, policies, pool, wanted.networkPolicy, healed, signal),
      () => this.#one(DISRUPTION_BUDGETS, budgets, pool, wanted.disruptionBudget, healed, signal),
      () => this.#one(DEPLOYMENTS, deployments, pool, wanted.deployment, healed, signal),
    ];
    let outcome: Outcome = { reason: 'Applied', message: '' };
    let last: Outcome | undefined;
    for (const step of steps) {
      last = await step();
      outcome = last ?? outcome;
    }
    return { ...outcome, healed, deploymentApplied: last === undefined };
  }

  /** Forgets what was applied for a pool that is gone. */
  forget(objectName: string, namespace: string | undefined): void {
    for (const kind of [SERVICE_ACCOUNTS, NETWORK_POLICIES, DISRUPTION_BUDGETS, DEPLOYMENTS]) {
      this.#applied.delete(
        appliedKey(kind, { metadata: { name: objectName, ...(namespace !== undefined && { namespace }) } }),
      );
    }
  }

  /** @returns why the object is not as it should be; undefined when it is. */
  async #one<T extends KubeObject>(
    kind: Kind<T>,
    informer: Informer<T>,
    pool: RenderPool,
    wanted: T,
    healed: string[],
    signal: AbortSignal,
  ): Promise<Outcome | undefined> {
    const key = appliedKey(kind, wanted);
    // The caches hold only objects with our labels: one that they lack may exist, and belong to another owner.
    const live = informer.get(wanted.metadata) ?? (await this.#api.get(kind, wanted.metadata, { signal }));
    if (isForeign(live, pool)) {
      return {
        reason: 'NotOurs',
        message: `The ${kind.kind} ${wanted.metadata.name} belongs to somebody else.`,
      };
    }
    const text = JSON.stringify(wanted);
    const before = this.#applied.get(key);
    if (before?.wanted === text && live !== undefined && isAsApplied(live, before, wanted)) return undefined;
    try {
      const result = await applyWhenChanged(this.#api, kind, live, wanted, {
        fieldManager: FIELD_MANAGER,
        force: true,
        signal,
      });
      informer.remember(result);
      this.#applied.set(key, { wanted: text, generation: result.metadata.generation });
      const changed = result.metadata.resourceVersion !== live?.metadata.resourceVersion;
      if (before?.wanted === text && changed) healed.push(`${kind.kind} ${wanted.metadata.name}`);
      return undefined;
    } catch (error) {
      if (!(error instanceof KubernetesError) || !REJECTIONS.has(error.status)) throw error;
      return { reason: 'Refused', message: `${kind.kind} ${wanted.metadata.name}: ${error.message}` };
    }
  }
}

/** The object is unchanged since: its spec has the same generation, and its labels are there. */
function isAsApplied(live: KubeObject, { generation }: Applied, wanted: KubeObject): boolean {
  return (
    generation !== undefined &&
    live.metadata.generation === generation &&
    contains(live.metadata.labels, wanted.metadata.labels)
  );
}

/** Whether all wanted labels are there, each with its value. */
function contains(labels: KubeObject['metadata']['labels'], wanted: typeof labels): boolean {
  return Object.entries(wanted ?? {}).every(([name, value]) => labels?.[name] === value);
}

function appliedKey(kind: Kind, { metadata }: Pick<KubeObject, 'metadata'>): string {
  return `${kind.kind} ${keyOf(metadata)}`;
}
