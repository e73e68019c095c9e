import { type KubeObject, kindOf } from '../client/kube-object.ts';
import type { KubernetesApi } from '../client/kubernetes-api.ts';

export interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  /** MicroTime */
  readonly acquireTime?: string;
  /** MicroTime */
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

export type Lease = KubeObject<{ readonly spec?: LeaseSpec }>;

export const LEASES = kindOf<Lease>('coordination.k8s.io/v1', 'Lease', 'leases');

/** The calls of the API that an election needs. */
export type LeaseApi = Pick<KubernetesApi, 'get' | 'create' | 'replace'>;
