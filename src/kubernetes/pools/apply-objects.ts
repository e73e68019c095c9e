import { applyWhenChanged } from '../client/apply.ts';
import type { Informer } from '../client/informer.ts';
import { type Kind, type KubeObject, keyOf } from '../client/kube-object.ts';
import type { KubernetesApi } from '../client/kubernetes-api.ts';
import { KubernetesError } from '../client/kubernetes-error.ts';
import {
  DEPLOYMENTS,
  type Deployment,
  DISRUPTION_BUDGETS,
  NETWORK_POLICIES,
  type PlainObject,
  type RenderPool,
  SERVICE_ACCOUNTS,
} from '../resources/kinds.ts';
import { contains } from './contains.ts';
import { FIELD_MANAGER } from './names.ts';
import { isForeign, type OwnedObjects } from './owned-objects.ts';
import type { Outcome } from './pool-status.ts';

/** The caches of what pools own. */
export interface OwnedInformers {
  readonly deployments: Informer<Deployment>;
  readonly budgets: Informer<PlainObject>;
  readonly policies: Informer<PlainObject>;
  readonly accounts: Informer<PlainObject>;
}

/** What was applied last of an object: the same again, at the same generation, would change nothing. */
interface Applied {
  readonly wanted: string;
  readonly generation: number | undefined;
}

export interface ApplyResult extends Outcome {
  /** Objects that others had changed or deleted. */
  readonly healed: readonly string[];
  /** Whether the Deployment is as it was to be. */
  readonly deploymentApplied: boolean;
}

/** Answers that repeating soon will not change: the object itself, or the rights, have to. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 413, 422]);

/** Makes the objects of pools as they should be, by server-side apply where something differs. */
export class ObjectApplier {
  readonly #api: KubernetesApi;
  readonly #informers: OwnedInformers;
  readonly #applied = new Map<string, Applied>();

  constructor(api: KubernetesApi, informers: OwnedInformers) {
    this.#api = api;
    this.#informers = informers;
  }

  /**
   * The Deployment last: its pods need the rest. An object that belongs to somebody else is left alone, and so is everything
   * that the API server refuses.
   *
   * @throws KubernetesError for what may go better the next time.
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

  /** @returns why not; undefined when the object is as it should be. */
  async #one<T extends KubeObject>(
    kind: Kind<T>,
    informer: Informer<T>,
    pool: RenderPool,
    wanted: T,
    healed: string[],
    signal: AbortSignal,
  ): Promise<Outcome | undefined> {
    const key = appliedKey(kind, wanted);
    // The caches hold what carries our labels only: an object that they lack may be somebody else's.
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
      if (!(error instanceof KubernetesError) || !REFUSALS.has(error.status)) throw error;
      return { reason: 'Refused', message: `${kind.kind} ${wanted.metadata.name}: ${error.message}` };
    }
  }
}

/** Nobody has touched it since: its spec has the same generation, and its labels are there. */
function isAsApplied(live: KubeObject, { generation }: Applied, wanted: KubeObject): boolean {
  return (
    generation !== undefined &&
    live.metadata.generation === generation &&
    contains(live.metadata.labels, wanted.metadata.labels)
  );
}

function appliedKey(kind: Kind, { metadata }: Pick<KubeObject, 'metadata'>): string {
  return `${kind.kind} ${keyOf(metadata)}`;
}
