import type { Clock } from '../../infra/clock.ts';
import { applyWhenChanged } from '../../infra/kube/client/apply.ts';
import type { Informer } from '../../infra/kube/client/informer.ts';
import { type Kind, type KubeObject, keyOf } from '../../infra/kube/client/kube-object.ts';
import type { KubernetesApi } from '../../infra/kube/client/kubernetes-api.ts';
import { KubernetesError } from '../../infra/kube/kubernetes-error.ts';
import { type Installation, isAssigned } from '../resources/installation.ts';
import {
  DEPLOYMENTS,
  type Deployment,
  DISRUPTION_BUDGETS,
  NETWORK_POLICIES,
  type PlainObject,
  type RenderPool,
  SERVICE_ACCOUNTS,
} from '../resources/kinds.ts';
import { FIELD_MANAGER, workersOf } from './labels.ts';
import { foreignOwnerOf, type OwnedObjects } from './owned-objects.ts';
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

/** An object that was not applied; the same is not tried again before `untilMs`. */
interface Held {
  readonly content: string;
  readonly outcome: Outcome;
  readonly untilMs: number;
}

export interface ApplyResult extends Outcome {
  /** Objects that other clients had changed or deleted. */
  readonly healed: readonly string[];
  /** Whether the Deployment has the wanted number of replicas. */
  readonly sized: boolean;
  /** An error that may not recur, and that has recurred: to be thrown once the status has told of it. */
  readonly error: KubernetesError | undefined;
}

interface Failure extends Outcome {
  readonly error?: KubernetesError;
}

interface ApplierDeps {
  readonly api: KubernetesApi;
  readonly informers: OwnedInformers;
  readonly installation: Installation;
  readonly clock: Clock;
}

/** In milliseconds. No watch reports that another owner's object is gone, or that a rejection has ended. */
export const REJECTED_RETRY_MS = 30_000;

/** Statuses of errors that pass by themselves, and soon: an early repetition is worth while. */
const TRANSIENT: ReadonlySet<number> = new Set([0, 401, 408, 409, 429, 503, 504]);

/** How the API server, with the status 500, rejects a field that its own schema does not have. */
const UNKNOWN_FIELD = 'failed to create typed patch object';

/** Makes and corrects the objects of pools, by server-side apply where something differs. */
export class ObjectApplier {
  readonly #deps: ApplierDeps;
  readonly #applied = new Map<string, Applied>();
  readonly #held = new Map<string, Held>();
  /** Objects whose last apply has failed by a transient error. */
  readonly #failing = new Set<string>();

  constructor(deps: ApplierDeps) {
    this.#deps = deps;
  }

  /**
   * Applies the Deployment last, since its pods need the other objects. An object of another owner is left alone. While
   * the Deployment cannot be applied, the one that is there gets its number of replicas all the same.
   *
   * @throws KubernetesError for the first transient error of an object: most of them are over at the next try.
   */
  async apply(pool: RenderPool, wanted: OwnedObjects, signal: AbortSignal): Promise<ApplyResult> {
    const { deployments, budgets, policies, accounts } = this.#deps.informers;
    const healed: string[] = [];
    const one = <T extends KubeObject>(kind: Kind<T>, informer: Informer<T>, object: T, problem?: string) =>
      this.#one(kind, informer, { pool, wanted: object, problem, healed, signal });
    const steps = [
      () => wanted.serviceAccount && one(SERVICE_ACCOUNTS, accounts, wanted.serviceAccount),
      () => wanted.networkPolicy && one(NETWORK_POLICIES, policies, wanted.networkPolicy),
      () => one(DISRUPTION_BUDGETS, budgets, wanted.disruptionBudget),
      () => one(DEPLOYMENTS, deployments, wanted.deployment, wanted.problem),
    ];
    let failure: Failure | undefined;
    let error: KubernetesError | undefined;
    let last: Failure | undefined;
    for (const step of steps) {
      last = await step();
      failure = last ?? failure;
      error ??= last?.error;
    }
    const sized =
      last === undefined ||
      (last.reason !== 'NotOurs' && (await this.scale(pool, wanted.deployment.spec.replicas, signal)));
    const { reason, message } = failure ?? APPLIED;
    const kept = last !== undefined && sized;
    return { reason, message: kept ? withWorkersKept(message) : message, healed, sized, error };
  }

  /**
   * Gives the Deployment of a pool its number of replicas and leaves its template as it is. By the scale subresource, which
   * policies for Deployments do not hold up.
   *
   * @returns false where there is no Deployment, it belongs to another owner, or the API server rejects it.
   * @throws KubernetesError for transient errors.
   */
  async scale(pool: RenderPool, replicas: number | undefined, signal: AbortSignal): Promise<boolean> {
    const { api, informers, installation } = this.#deps;
    const { name, namespace } = pool.metadata;
    const ref = { name: workersOf(name), ...(namespace !== undefined && { namespace }) };
    const live = informers.deployments.get(ref);
    if (live === undefined || replicas === undefined) return false;
    if (foreignOwnerOf(live, pool, installation) !== undefined) return false;
    if (live.spec.replicas === replicas) return true;
    const patch = { spec: { replicas } };
    try {
      await api.mergePatch<KubeObject>(DEPLOYMENTS as Kind, ref, patch, {
        subresource: 'scale',
        fieldManager: FIELD_MANAGER,
        signal,
      });
    } catch (error) {
      if (!(error instanceof KubernetesError) || TRANSIENT.has(error.status)) throw error;
      return false;
    }
    // The response is a Scale, and the cache has to know the Deployment as it is now.
    const scaled = await api.get(DEPLOYMENTS, ref, { signal });
    if (scaled !== undefined) informers.deployments.remember(scaled);
    return true;
  }

  /** Forgets what was applied for a pool that is gone. */
  forget(objectName: string, namespace: string | undefined): void {
    for (const kind of [SERVICE_ACCOUNTS, NETWORK_POLICIES, DISRUPTION_BUDGETS, DEPLOYMENTS]) {
      const key = appliedKey(kind, {
        metadata: { name: objectName, ...(namespace !== undefined && { namespace }) },
      });
      this.#applied.delete(key);
      this.#held.delete(key);
      this.#failing.delete(key);
    }
  }

  /** @returns why the object is not as it should be; undefined when it is. */
  async #one<T extends KubeObject>(
    kind: Kind<T>,
    informer: Informer<T>,
    { pool, wanted, problem, healed, signal }: Step<T>,
  ): Promise<Failure | undefined> {
    const { api, installation, clock } = this.#deps;
    const key = appliedKey(kind, wanted);
    // To take over another installation's object is to be tried at once.
    const content = `${isAssigned(pool, installation)} ${problem ?? ''} ${contentOf(wanted)}`;
    const held = this.#held.get(key);
    if (held?.content === content && clock.now().getTime() < held.untilMs) return held.outcome;
    const hold = (outcome: Outcome) => {
      this.#held.set(key, { content, outcome, untilMs: clock.now().getTime() + REJECTED_RETRY_MS });
      return outcome;
    };
    const what = `The ${kind.kind} ${wanted.metadata.name}`;
    const text = JSON.stringify(wanted);
    const before = this.#applied.get(key);
    try {
      // The caches hold only objects with our labels: one that they lack may exist, and belong to another owner.
      const live = informer.get(wanted.metadata) ?? (await api.get(kind, wanted.metadata, { signal }));
      const owner = foreignOwnerOf(live, pool, installation);
      if (owner !== undefined) {
        return hold({ reason: 'NotOurs', message: `${what} belongs to ${owner}.` });
      }
      if (problem !== undefined) {
        return hold({ reason: 'Refused', message: `${what} is not applied: ${problem}` });
      }
      this.#held.delete(key);
      if (before?.wanted === text && live !== undefined && isAsApplied(live, before, wanted))
        return undefined;
      const result = await applyWhenChanged(api, kind, live, wanted, {
        fieldManager: FIELD_MANAGER,
        force: true,
        signal,
      });
      informer.remember(result);
      this.#applied.set(key, { wanted: text, generation: result.metadata.generation });
      this.#failing.delete(key);
      const changed = result.metadata.resourceVersion !== live?.metadata.resourceVersion;
      if (before?.wanted === text && changed) healed.push(`${kind.kind} ${wanted.metadata.name}`);
      return undefined;
    } catch (error) {
      if (!(error instanceof KubernetesError) || signal.aborted) throw error;
      if (!TRANSIENT.has(error.status)) return hold(rejection(what, error));
      if (this.#failing.has(key)) return { ...failed(what, error), error };
      this.#failing.add(key);
      throw error;
    }
  }
}

/** The message about a template that is not in use, with what goes for the workers meanwhile. */
export function withWorkersKept(message: string): string {
  return `${message.replace(/\.$/, '')}. Until then the workers stay as they were accepted last, and their number follows the demand.`;
}

const APPLIED: Outcome = { reason: 'Applied', message: '' };

interface Step<T> {
  readonly pool: RenderPool;
  readonly wanted: T;
  readonly problem: string | undefined;
  /** Gets the objects that other clients had changed or deleted. */
  readonly healed: string[];
  readonly signal: AbortSignal;
}

function rejection(what: string, error: KubernetesError): Outcome {
  const isRejection = error.status < 500 || error.message.includes(UNKNOWN_FIELD);
  if (!isRejection) return failed(what, error);
  return { reason: 'Refused', message: `${what} is refused by the API server: ${error.message}` };
}

function failed(what: string, error: KubernetesError): Outcome {
  return { reason: 'ApplyFailed', message: `${what} could not be applied: ${error.message}` };
}

/** All of an object but its number of replicas: what is refused of it has nothing to do with those. */
function contentOf(wanted: KubeObject<{ readonly spec?: object }>): string {
  const { replicas, ...spec } = (wanted.spec ?? {}) as { readonly replicas?: number };
  return JSON.stringify({ ...wanted, spec });
}

/** The object is unchanged since: its spec has the same generation, and its owner, labels and annotations are there. */
function isAsApplied(live: KubeObject, { generation }: Applied, wanted: KubeObject): boolean {
  const owners = new Set(live.metadata.ownerReferences?.map(({ uid }) => uid));
  return (
    generation !== undefined &&
    live.metadata.generation === generation &&
    (wanted.metadata.ownerReferences ?? []).every(({ uid }) => owners.has(uid)) &&
    contains(live.metadata.labels, wanted.metadata.labels) &&
    contains(live.metadata.annotations, wanted.metadata.annotations)
  );
}

/** Whether all wanted labels or annotations are there, each with its value. */
function contains(labels: KubeObject['metadata']['labels'], wanted: typeof labels): boolean {
  return Object.entries(wanted ?? {}).every(([name, value]) => labels?.[name] === value);
}

function appliedKey(kind: Kind, { metadata }: Pick<KubeObject, 'metadata'>): string {
  return `${kind.kind} ${keyOf(metadata)}`;
}
