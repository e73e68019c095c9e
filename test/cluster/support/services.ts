import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ControlPlane } from '../../support/kubernetes/control-plane.ts';
import { type Program, startProgram } from '../../support/kubernetes/program.ts';
import { CLUSTER_NETWORK, HOST_ADDRESS } from './network.ts';

/** Starts what gives Services their addresses on this machine. One serves every node: they share the machine's network. */
export async function startProxy(plane: ControlPlane, folder: string, node: string): Promise<Program> {
  const config = join(folder, 'kube-proxy.json');
  const leaveAsItIs = { maxPerCore: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' };
  await writeFile(
    config,
    JSON.stringify({
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      kind: 'KubeProxyConfiguration',
      mode: 'iptables',
      clientConnection: { kubeconfig: plane.kubeconfigPath },
      hostnameOverride: node,
      clusterCIDR: CLUSTER_NETWORK,
      bindAddress: HOST_ADDRESS,
      iptables: { minSyncPeriod: '0.1s', syncPeriod: '30s' },
      conntrack: leaveAsItIs,
    }),
  );
  return await startProgram('kube-proxy', [`--config=${config}`], { folder });
}

/** Starts the DNS server of the pods: names of Services, and no others. */
export async function startDns(plane: ControlPlane, folder: string): Promise<Program> {
  const config = join(folder, 'Corefile');
  await writeFile(
    config,
    `cluster.local {
  bind ${HOST_ADDRESS}
  errors
  kubernetes {
    kubeconfig ${plane.kubeconfigPath} test
    ttl 1
  }
}
. {
  bind ${HOST_ADDRESS}
  template ANY ANY {
    rcode NXDOMAIN
  }
}
`,
  );
  return await startProgram('coredns', ['-conf', config], { folder });
}
