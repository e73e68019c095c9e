import type { Condition } from '../../infra/kube/client/conditions.ts';
import { type KubeObject, kindOf } from '../../infra/kube/client/kube-object.ts';
import { GROUP, VERSION } from './group.ts';
import type { RenderPlanSpec, RenderPlanStatus } from './render-plan.ts';
import type { RenderPoolSpec, RenderPoolStatus } from './render-pool.ts';

/** Each kind describes only the fields that Platen reads; other fields are kept as they are. */

type WithConditions<Status> = Omit<Status, 'conditions'> & { readonly conditions?: readonly Condition[] };

/** As the API server has it: its version of the definition may differ from this code's. */
export type RenderPlan = KubeObject<{
  readonly spec: RenderPlanSpec;
  readonly status?: WithConditions<RenderPlanStatus>;
}>;
export type RenderPool = KubeObject<{
  readonly spec: RenderPoolSpec;
  readonly status?: WithConditions<RenderPoolStatus>;
}>;

export type PodTemplate = {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, unknown>>;
};

export type Deployment = KubeObject<{
  readonly spec: {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly template: PodTemplate;
    readonly strategy?: {
      readonly type: 'RollingUpdate';
      readonly rollingUpdate: {
        readonly maxSurge: number | string;
        readonly maxUnavailable: number | string;
      };
    };
    readonly [field: string]: unknown;
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly updatedReplicas?: number;
    readonly conditions?: readonly PodCondition[];
  };
}>;

/** A condition of a pod or a Deployment. */
export interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

export type Pod = KubeObject<{
  readonly spec?: { readonly nodeName?: string };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly PodCondition[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}>;

export interface ContainerStatus {
  readonly name: string;
  readonly state?: { readonly waiting?: { readonly reason?: string; readonly message?: string } };
  readonly lastState?: {
    readonly terminated?: { readonly exitCode: number; readonly reason?: string; readonly message?: string };
  };
}

/** Objects of which only the desired fields are read. */
export type PlainObject = KubeObject<{
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly automountServiceAccountToken?: boolean;
}>;

export const RENDER_PLANS = kindOf<RenderPlan>(`${GROUP}/${VERSION}`, 'RenderPlan', 'renderplans');
export const RENDER_POOLS = kindOf<RenderPool>(`${GROUP}/${VERSION}`, 'RenderPool', 'renderpools');
export const DEPLOYMENTS = kindOf<Deployment>('apps/v1', 'Deployment', 'deployments');
export const PODS = kindOf<Pod>('v1', 'Pod', 'pods');
export const DISRUPTION_BUDGETS = kindOf<PlainObject>(
  'policy/v1',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
);
export const NETWORK_POLICIES = kindOf<PlainObject>(
  'networking.k8s.io/v1',
  'NetworkPolicy',
  'networkpolicies',
);
export const SERVICE_ACCOUNTS = kindOf<PlainObject>('v1', 'ServiceAccount', 'serviceaccounts');
