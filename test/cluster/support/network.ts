import { execFile } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { promisify } from 'node:util';
import { SERVICE_RANGE } from '../../support/kubernetes/api-server.ts';

const run = promisify(execFile);

const BRIDGE = 'platen0';
/** Nodes and pods share one network: nodes have 10.88.0.x, pods 10.88.1.x. */
export const CLUSTER_NETWORK = '10.88.0.0/16';
/** Where the API server, the DNS server, Kafka and the database are for pods: the address of the bridge itself. */
export const HOST_ADDRESS = '10.88.0.1';

/**
 * Makes the bridge that nodes and pods share. The network namespace of this process must be a fresh one, which removes
 * the bridge, every rule and every address when it ends.
 *
 * @throws when this network is in use.
 */
export async function setUpNetwork(): Promise<void> {
  const others = Object.keys(networkInterfaces()).filter((name) => name !== 'lo');
  if (others.length > 0) {
    throw new Error(
      `The cluster wants a network namespace of its own (${others.join(', ')} found): make e2e`,
    );
  }
  await run('ip', ['link', 'set', 'lo', 'up']);
  await run('ip', ['link', 'add', BRIDGE, 'type', 'bridge']);
  await addAddress(HOST_ADDRESS);
  await run('ip', ['link', 'set', BRIDGE, 'up']);
  // For callers of a Service on this machine: kube-proxy rewrites packets that have any route.
  await run('ip', ['route', 'add', SERVICE_RANGE, 'dev', BRIDGE]);
  await run('sysctl', ['-q', '-w', 'net.ipv4.ip_forward=1', 'net.ipv4.conf.all.route_localnet=1']);
}

/** Gives the bridge one more address, for one more node. */
export async function addAddress(address: string): Promise<void> {
  await run('ip', ['address', 'add', `${address}/16`, 'dev', BRIDGE]);
}

/** Leads what pods send to HOST_ADDRESS:port to 127.0.0.1:target, where the embedded database listens. */
export async function forwardToLoopback(port: number, target: number): Promise<void> {
  const match = ['-d', HOST_ADDRESS, '-p', 'tcp', '--dport', String(port)];
  const destination = ['-j', 'DNAT', '--to-destination', `127.0.0.1:${target}`];
  await run('iptables', ['-t', 'nat', '-A', 'PREROUTING', ...match, ...destination]);
}

/** For containerd's CNI: the bridge, and addresses that the nodes hand out of one common store. */
export function cniConfiguration(storeFolder: string): string {
  const addresses = {
    subnet: CLUSTER_NETWORK,
    rangeStart: '10.88.1.1',
    rangeEnd: '10.88.1.254',
    gateway: HOST_ADDRESS,
  };
  return JSON.stringify({
    cniVersion: '0.4.0',
    name: 'platen',
    plugins: [
      {
        type: 'bridge',
        bridge: BRIDGE,
        // A pod that calls a Service of which it is the only end.
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          ranges: [[addresses]],
          routes: [{ dst: '0.0.0.0/0' }],
          dataDir: storeFolder,
        },
      },
    ],
  });
}
