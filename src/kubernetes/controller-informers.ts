import { Informer } from '../infra/kube/client/informer.ts';
import type { Kind, KubeObject } from '../infra/kube/client/kube-object.ts';
import type { KubernetesApi } from '../infra/kube/client/kubernetes-api.ts';
import type { Logger } from '../infra/telemetry/logger.ts';
import { POOL_LABEL } from './pools/labels.ts';
import { slimPod } from './pools/slim-pod.ts';
import {
  DEPLOYMENTS,
  DISRUPTION_BUDGETS,
  NETWORK_POLICIES,
  PODS,
  RENDER_PLANS,
  RENDER_POOLS,
  SERVICE_ACCOUNTS,
} from './resources/kinds.ts';

/**
 * Begins to list and watch at once; objects that pools own are selected by their label.
 *
 * @param onState called with a namespace when an informer's state for it has changed; never within this call.
 */
export function startInformers(
  api: KubernetesApi,
  namespaces: readonly string[],
  logger: Logger,
  onState: (namespace: string) => void,
) {
  const all = new Map<string, Pick<Informer<KubeObject>, 'stop' | 'stateOf' | 'silentForMs'>>();
  const start = <T extends KubeObject>(
    kind: Kind<T>,
    labelSelector?: string,
    transform: (object: T) => T = (object) => object,
  ): Informer<T> => {
    const informer = new Informer({
      api,
      kind,
      namespaces,
      labelSelector,
      logger,
      transform,
      onState: (namespace) => namespace !== undefined && onState(namespace),
    });
    all.set(kind.kind, informer);
    return informer;
  };
  return {
    plans: start(RENDER_PLANS),
    pools: start(RENDER_POOLS),
    pods: start(PODS, POOL_LABEL, slimPod),
    owned: {
      deployments: start(DEPLOYMENTS, POOL_LABEL),
      budgets: start(DISRUPTION_BUDGETS, POOL_LABEL),
      policies: start(NETWORK_POLICIES, POOL_LABEL),
      accounts: start(SERVICE_ACCOUNTS, POOL_LABEL),
    },
    all,
  };
}

export type ControllerInformers = ReturnType<typeof startInformers>;
