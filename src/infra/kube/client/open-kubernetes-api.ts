import { systemTimers, type Timers } from '../../async/timers.ts';
import { loadClusterConfig } from './cluster-config.ts';
import { Credentials } from './cluster-credentials.ts';
import type { KubernetesApi } from './kubernetes-api.ts';
import { RestApi } from './rest-api.ts';
import { type CallResult, Transport } from './transport.ts';

export interface OpenOptions {
  /** A kubeconfig file; without it KUBECONFIG, or the pod's service account, or `~/.kube/config`. */
  readonly kubeconfigPath?: string | undefined;
  /** Called for every response of the API server, for metrics. */
  readonly onCall?: (result: CallResult) => void;
  /** The client's name in the API server's audit log; default `platen`. */
  readonly userAgent?: string;
  readonly timers?: Timers;
}

/** Makes no call yet: the API server may be away. @throws Error when no cluster is configured. */
export async function openKubernetesApi(options: OpenOptions = {}): Promise<KubernetesApi> {
  const { timers = systemTimers, onCall = () => {}, userAgent = 'platen' } = options;
  const load = () => loadClusterConfig(options.kubeconfigPath);
  const config = await load();
  const server = (config.getCurrentCluster()?.server ?? '').replace(/\/+$/, '');
  const credentials = new Credentials(load, timers);
  return new RestApi(new Transport({ server, credentials, timers, userAgent, onCall }), timers);
}
