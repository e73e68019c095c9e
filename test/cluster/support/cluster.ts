import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ControlPlane, startControlPlane } from '../../support/kubernetes/control-plane.ts';
import { HOST_ADDRESS, setUpNetwork } from './network.ts';
import { type ClusterNode, startNode } from './node.ts';
import { startDns, startProxy } from './services.ts';

export interface ClusterOptions {
  /** Archives of images that every node has. */
  readonly images: readonly string[];
  /** Folder of the CNI plugins. */
  readonly cniPlugins: string;
  /** A cgroup of this run's own, that exists in every hierarchy, as a path from its root. */
  readonly cgroup: string;
}

export interface Cluster {
  /** Of this run, removed at its end. */
  readonly folder: string;
  /** The folder in which every node finds seccomp profiles. */
  readonly seccompFolder: string;
  readonly plane: ControlPlane;
  /** The first shares its address with everything else that runs on this machine. */
  readonly nodes: readonly ClusterNode[];
  /** Writes an object into a file of this run, for `kubectl --filename`. @returns its path. */
  write(name: string, object: object): Promise<string>;
  /** Ends every program; containers end with the process namespace. */
  stop(): Promise<void>;
}

const NODES = [
  ['node-a', HOST_ADDRESS],
  ['node-b', '10.88.0.2'],
] as const;

const IMAGE = 'docker.io/library/platen';
/** The second name is what an upgrade changes to. */
const TAGS = [[`${IMAGE}:e2e-next`, `${IMAGE}:e2e`]] as const;

/** Starts a whole cluster of two nodes, with Services and names, in this process's own network and process namespaces. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const started = performance.now();
  const stage = (what: string) => {
    console.log(`  ${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s  ${what}`);
  };
  await setUpNetwork();
  // A short path: a socket's path may have at most 107 characters.
  const folder = await mkdtemp(join(tmpdir(), 'platen-cluster-'));
  const seccompFolder = join(folder, 'seccomp');
  await mkdir(seccompFolder);
  const plane = await startControlPlane({ address: HOST_ADDRESS, controllers: true });
  stage('etcd, API server, controller manager, scheduler');
  const nodes: ClusterNode[] = [];
  await Promise.all(
    NODES.map(async ([name, address]) => {
      const cgroup = `${options.cgroup}/${name}`;
      const { images, cniPlugins } = options;
      const own = { name, address, cgroup, folder, seccompFolder };
      nodes.push(
        await startNode({ ...own, kubeconfigPath: plane.kubeconfigPath, images, tags: TAGS, cniPlugins }),
      );
    }),
  );
  stage('container runtimes with the images, kubelets');
  const services = [await startProxy(plane, folder, NODES[0][0]), await startDns(plane, folder)];
  await nodesReady(plane);
  stage('nodes ready, Services and names');
  // Of the present: a node may have been started again.
  const programs = () => [...nodes.flatMap((node) => node.programs), ...services];
  const megabytes = [...plane.programs, ...programs()].map(({ pid }) => residentBytes(pid) / 1e6);
  console.log(`          ${Math.round(megabytes.reduce((sum, one) => sum + one))} MB of memory`);
  return {
    folder,
    seccompFolder,
    plane,
    nodes,
    write: async (name, object) => {
      const file = join(folder, name);
      await writeFile(file, JSON.stringify(object));
      return file;
    },
    stop: async () => {
      // Kubelets first, or they would restart the ended programs.
      for (const program of programs()) await program.end('SIGKILL');
      await plane.stop();
      await rm(folder, { recursive: true, force: true }).catch(() => {
        // Containers that still run keep their mounts until the namespaces end; the folder is swept then.
      });
    },
  };
}

let shared: Promise<Cluster> | undefined;

/** The cluster that all tests of this process share, as test/cluster/run.sh has prepared it. It ends with the tests. */
export function sharedCluster(): Promise<Cluster> {
  const { PLATEN_CLUSTER_IMAGES: images, PLATEN_CLUSTER_CNI: cniPlugins } = process.env;
  const { PLATEN_CLUSTER_CGROUP: cgroup } = process.env;
  if (images === undefined || cniPlugins === undefined || cgroup === undefined) {
    throw new Error('The cluster tests are started by `make e2e`.');
  }
  const archives = ['pause', 'platen'].map((name) => join(images, `${name}.tar`));
  shared ??= startCluster({ images: archives, cniPlugins, cgroup });
  return shared;
}

// A root hook: mocha runs it after the last test of the last file.
if (typeof after === 'function') {
  after(async () => {
    await (await shared)?.stop();
  });
}

function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

async function nodesReady(plane: ControlPlane): Promise<void> {
  for (const [name] of NODES) {
    await plane.kubectl('wait', '--for=create', '--timeout=60s', `node/${name}`);
    await plane.kubectl('wait', '--for=condition=Ready', '--timeout=60s', `node/${name}`);
  }
}
