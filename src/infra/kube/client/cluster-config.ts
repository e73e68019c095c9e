import { access } from 'node:fs/promises';
import { KubeConfig } from '@kubernetes/client-node';

const SERVICE_ACCOUNT_TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/**
 * The address of the API server and the credentials: from the named file, or KUBECONFIG, or the service account of the
 * pod, or `~/.kube/config`, in this order.
 *
 * @throws Error when there is none of them.
 */
export async function loadClusterConfig(kubeconfigPath?: string): Promise<KubeConfig> {
  const config = new KubeConfig();
  if (kubeconfigPath !== undefined) config.loadFromFile(kubeconfigPath);
  else if (!process.env.KUBECONFIG && (await exists(SERVICE_ACCOUNT_TOKEN))) config.loadFromCluster();
  else config.loadFromDefault();
  // Without any configuration the library falls back to this address, and the first call would fail with a misleading
  // error.
  if (config.getCurrentCluster() === null || config.getCurrentCluster()?.server === 'http://localhost:8080') {
    throw new Error('no Kubernetes cluster is configured: neither KUBECONFIG nor a service account is there');
  }
  return config;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
