import {
  apiVersionOf,
  controllerReference,
  type Kind,
  type KubeObject,
} from '../../infra/kube/client/kube-object.ts';
import { INSTALLATION, type Installation, isAssigned } from '../resources/installation.ts';
import {
  DEPLOYMENTS,
  type Deployment,
  DISRUPTION_BUDGETS,
  NETWORK_POLICIES,
  type PlainObject,
  type RenderPool,
  SERVICE_ACCOUNTS,
} from '../resources/kinds.ts';
import { FIELD_MANAGER, MANAGED_BY_LABEL, ownLabels, workerSelector, workersOf } from './labels.ts';
import { podSpecProblem } from './pod-overlay.ts';
import { givenAccount, podTemplate, type WorkerTemplate } from './worker-template.ts';

/** The installation's settings for all pools. */
export interface PoolsSettings {
  readonly template: WorkerTemplate;
  /** CIDRs that no worker may reach: metadata services, and the API server by its Service and its own address. */
  readonly blockedNetworks: readonly string[];
  /** Port of the workers' health and metrics, by the name that the template gives it. */
  readonly opsPort: string | number;
  /** False where the cluster enforces no policies, or the installation brings its own. */
  readonly networkPolicies: boolean;
}

/** The objects that a pool owns, as they should be. */
export interface OwnedObjects {
  /** Undefined where the workers have one that exists already. */
  readonly serviceAccount: PlainObject | undefined;
  readonly networkPolicy: PlainObject | undefined;
  readonly disruptionBudget: PlainObject;
  /** Without `spec.replicas`, which the scaling adds. */
  readonly deployment: Deployment;
  /** Why the Deployment must not be applied; undefined when it may be. */
  readonly problem: string | undefined;
}

/** The part of the workers that may be drained at a time; their renders are given back anyway. */
const MAX_UNAVAILABLE = '25%';

/** No worker ends before its successor is ready. Ending pods do not count towards the surge. */
const STRATEGY = {
  type: 'RollingUpdate',
  rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 },
} as const;

/** Pure: the same pool and settings give the same objects. */
export function ownedObjects(
  pool: RenderPool,
  settings: PoolsSettings,
  installation: Installation,
): OwnedObjects {
  const { template } = settings;
  const { spec } = pool;
  const maker = { template, installation };
  const ownerReferences = [controllerReference(pool)];
  const owned = <T extends KubeObject>(kind: Kind<T>, content: Content<T>) =>
    ownedObject(kind, pool, maker, content, { ownerReferences });
  const annotations = { ...template.serviceAccount?.annotations, ...spec.serviceAccountAnnotations };
  const podSelector = { matchLabels: workerSelector(pool.metadata.name) };
  return {
    serviceAccount:
      givenAccount(template, spec) === undefined
        ? ownedObject(
            SERVICE_ACCOUNTS,
            pool,
            maker,
            { automountServiceAccountToken: false },
            { ownerReferences, annotations },
          )
        : undefined,
    // Not owned by the pool: owned objects are deleted at once, and ending workers still render. The controller deletes
    // it.
    networkPolicy: settings.networkPolicies
      ? ownedObject(NETWORK_POLICIES, pool, maker, { spec: networkPolicy(podSelector, settings) }, {})
      : undefined,
    disruptionBudget: owned(DISRUPTION_BUDGETS, {
      spec: {
        selector: podSelector,
        maxUnavailable: MAX_UNAVAILABLE,
        // A worker that cannot start must not keep a node from being drained.
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
      },
    }),
    deployment: owned(DEPLOYMENTS, {
      spec: {
        selector: podSelector,
        strategy: spec.strategy ?? template.strategy ?? STRATEGY,
        revisionHistoryLimit: 3,
        ...(spec.paused && { paused: true }),
        template: podTemplate(template, pool.metadata.name, spec),
      },
    }),
    problem: podSpecProblem(spec.podSpec),
  };
}

type Content<T extends KubeObject> = Omit<T, 'apiVersion' | 'kind' | 'metadata'>;

function ownedObject<T extends KubeObject>(
  kind: Kind<T>,
  pool: RenderPool,
  { template: { common }, installation }: { template: WorkerTemplate; installation: Installation },
  content: Content<T>,
  { ownerReferences, annotations }: Pick<KubeObject['metadata'], 'ownerReferences' | 'annotations'>,
): T {
  const { name, namespace } = pool.metadata;
  const object = {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: {
      name: workersOf(name),
      ...(namespace !== undefined && { namespace }),
      labels: { ...common?.labels, ...ownLabels(name) },
      annotations: { ...common?.annotations, ...annotations, [INSTALLATION]: installation.id },
      ...(ownerReferences !== undefined && { ownerReferences }),
    },
    ...content,
  };
  return object as KubeObject as T;
}

/**
 * DNS is allowed to every address: some clusters serve it at addresses that are blocked otherwise, a cache on the node
 * (NodeLocal DNSCache: 169.254.20.10, or another of either family) or the metadata service (Cloud DNS of GKE:
 * 169.254.169.254).
 */
const DNS_PORTS = ['UDP', 'TCP'].map((protocol) => ({ protocol, port: 53 }));

/**
 * Only readers of its metrics may call a worker: those that are named, or else every pod that is no worker. A worker reaches the outside and every pod
 * that is no worker (database, Kafka), but neither metadata services nor the API server; DNS it reaches at every
 * address. With a CNI that counts pods in a node's network as pods, those are reachable too: docs/production.md says
 * what a policy cannot close.
 */
function networkPolicy(podSelector: object, { blockedNetworks, opsPort, template }: PoolsSettings) {
  const { metricsFrom = [] } = template;
  const notWorkers = {
    namespaceSelector: {},
    podSelector: {
      matchExpressions: [{ key: 'app.kubernetes.io/component', operator: 'NotIn', values: ['worker'] }],
    },
  };
  return {
    podSelector,
    policyTypes: ['Ingress', 'Egress'],
    ingress: [
      {
        from: metricsFrom.length > 0 ? metricsFrom : [notWorkers],
        ports: [{ protocol: 'TCP', port: opsPort }],
      },
    ],
    egress: [
      { to: [notWorkers] },
      { ports: DNS_PORTS },
      { to: [allBut('0.0.0.0/0', blockedNetworks), allBut('::/0', blockedNetworks)] },
    ],
  };
}

function allBut(cidr: string, blocked: readonly string[]) {
  const isV6 = (network: string) => network.includes(':');
  const except = blocked.filter((network) => isV6(network) === isV6(cidr));
  return { ipBlock: { cidr, ...(except.length > 0 && { except }) } };
}

/**
 * To whom an object belongs, in words, if not to the pool or not to this installation; undefined when it is ours or
 * there is none. Without an owner it is the pool's by its labels, as after a restored backup.
 */
export function foreignOwnerOf(
  live: KubeObject | undefined,
  pool: RenderPool,
  installation: Installation,
): string | undefined {
  if (live === undefined) return undefined;
  const { ownerReferences = [], annotations } = live.metadata;
  const owners = ownerReferences.filter(({ controller }) => controller === true);
  const isOfPool =
    owners.length === 0
      ? isOurs(live, pool.metadata.name)
      : owners.some(({ uid }) => uid === pool.metadata.uid);
  if (!isOfPool) return 'somebody else';
  if (isAssigned(pool, installation)) return undefined;
  const maker = annotations?.[INSTALLATION];
  return maker === undefined || maker === installation.id
    ? undefined
    : `the installation ${maker}; annotate the pool with ${INSTALLATION}=${installation.id} to take it over`;
}

/** Whether an object's labels say that the controller made it for the pool. */
export function isOurs({ metadata }: KubeObject, pool: string): boolean {
  return metadata.name === workersOf(pool) && metadata.labels?.[MANAGED_BY_LABEL] === FIELD_MANAGER;
}
