import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Program, startProgram } from '../../support/kubernetes/program.ts';
import { addAddress, cniConfiguration, HOST_ADDRESS } from './network.ts';
import { cutPower } from './power-cut.ts';

const START_TIMEOUT_MS = 60_000;
const IMPORT_TIMEOUT_MS = 300_000;
/** Processes and threads that a pod may have. */
const POD_PIDS = 1024;
export const PAUSE_IMAGE = 'registry.invalid/pause:local';

export interface NodeOptions {
  readonly name: string;
  readonly address: string;
  /** Below which it keeps everything: sockets, images, containers, logs. */
  readonly folder: string;
  /** Of the seccomp profiles, shared by all nodes. */
  readonly seccompFolder: string;
  readonly kubeconfigPath: string;
  /** Folder of the CNI plugins. */
  readonly cniPlugins: string;
  /** The cgroup below which its pods live; it exists in every hierarchy. */
  readonly cgroup: string;
  /** Image archives that its runtime has before the first pod. */
  readonly images: readonly string[];
  /** Further names of images, each with what it stands for. */
  readonly tags: readonly (readonly [name: string, of: string])[];
}

/** A node: a container runtime of its own, and a kubelet. */
export interface ClusterNode {
  readonly name: string;
  readonly address: string;
  /** The programs that run at present. */
  readonly programs: readonly Program[];
  /** Ends kubelet, container runtime and every container at once, without a word to anybody. */
  cutPower(): Promise<void>;
  /** Starts runtime and kubelet again, which find what they had on their disk. */
  boot(): Promise<void>;
}

/** Starts containerd, gives it the images, and starts the kubelet, which registers the node. */
export async function startNode(options: NodeOptions): Promise<ClusterNode> {
  const folder = join(options.folder, options.name);
  const kubeletFolder = join(folder, 'kubelet');
  await mkdir(kubeletFolder, { recursive: true });
  await symlink(options.seccompFolder, join(kubeletFolder, 'seccomp'));
  if (options.address !== HOST_ADDRESS) await addAddress(options.address);
  const socket = join(folder, 'containerd.sock');
  const containerd = await startContainerd(folder, socket, options);
  for (const image of options.images) await importImage(socket, image);
  for (const [name, of] of options.tags)
    await ctr(socket, '--namespace', 'k8s.io', 'images', 'tag', of, name);
  const programs = [await startKubelet(folder, socket, options), containerd];
  return {
    name: options.name,
    address: options.address,
    programs,
    cutPower: async () => {
      await Promise.all(programs.splice(0).map((program) => program.end('SIGKILL')));
      cutPower(options.cgroup, socket);
    },
    boot: async () => {
      const runtime = await startContainerd(folder, socket, options);
      programs.push(await startKubelet(folder, socket, options), runtime);
    },
  };
}

async function startContainerd(folder: string, socket: string, options: NodeOptions): Promise<Program> {
  const cniFolder = join(folder, 'cni');
  await mkdir(cniFolder, { recursive: true });
  await writeFile(
    join(cniFolder, '10-platen.conflist'),
    cniConfiguration(join(options.folder, 'pod-addresses')),
  );
  const config = join(folder, 'containerd.toml');
  await writeFile(config, containerdConfiguration(folder, socket, cniFolder, options.cniPlugins));
  const containerd = await startProgram('containerd', ['--config', config], {
    folder,
    command: 'containerd',
  });
  const responses = () =>
    ctr(socket, 'version').then(
      () => true,
      () => false,
    );
  await containerd.until('ready', async () => existsSync(socket) && (await responses()), START_TIMEOUT_MS);
  return containerd;
}

function containerdConfiguration(folder: string, socket: string, cniFolder: string, plugins: string): string {
  return `version = 2
root = "${join(folder, 'containerd')}"
state = "${join(folder, 'run')}"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.internal.v1.opt"]
[grpc]
address = "${socket}"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "${PAUSE_IMAGE}"
# Without it a root who may not lower scores gets no pod at all.
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "overlayfs"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
SystemdCgroup = false
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "${plugins}"
conf_dir = "${cniFolder}"
`;
}

async function importImage(socket: string, archive: string): Promise<void> {
  await ctr(socket, '--namespace', 'k8s.io', 'images', 'import', '--no-unpack=false', archive);
}

async function ctr(socket: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('ctr', ['--address', socket, ...args], {
    timeout: IMPORT_TIMEOUT_MS,
  });
  return stdout;
}

async function startKubelet(folder: string, socket: string, options: NodeOptions): Promise<Program> {
  const config = join(folder, 'kubelet.json');
  await writeFile(config, JSON.stringify(kubeletConfiguration(folder, socket, options)));
  return await startProgram(
    'kubelet',
    [
      `--config=${config}`,
      `--kubeconfig=${options.kubeconfigPath}`,
      `--root-dir=${join(folder, 'kubelet')}`,
      `--hostname-override=${options.name}`,
      `--node-ip=${options.address}`,
    ],
    { folder },
  );
}

function kubeletConfiguration(folder: string, socket: string, options: NodeOptions): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: options.address,
    healthzBindAddress: options.address,
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    containerRuntimeEndpoint: `unix://${socket}`,
    podLogsDir: join(folder, 'pods'),
    cgroupDriver: 'cgroupfs',
    cgroupRoot: options.cgroup,
    failCgroupV1: false,
    failSwapOn: false,
    clusterDNS: [HOST_ADDRESS],
    clusterDomain: 'cluster.local',
    resolvConf: '',
    // A disk that is nearly full is this machine's affair; and images come from archives, so none may be collected.
    evictionHard: {
      'memory.available': '50Mi',
      'nodefs.available': '0%',
      'nodefs.inodesFree': '0%',
      'imagefs.available': '0%',
    },
    imageGCHighThresholdPercent: 100,
    nodeStatusUpdateFrequency: '2s',
    nodeStatusReportFrequency: '10s',
    nodeLeaseDurationSeconds: 10,
    // As managed clusters do: a pod that starts processes without end is stopped before the node is full.
    podPidsLimit: POD_PIDS,
    // Each node counts the whole machine as its own, so that nothing waits for room that is not there.
    maxPods: 60,
  };
}
