import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '../eventually.ts';
import { freePort } from '../ports.ts';
import {
  ApiReader,
  type ApiServerFiles,
  prepareApiServer,
  runKubectl,
  startApiServer,
  startEtcd,
} from './api-server.ts';
import { BIN, type Program, startProgram } from './program.ts';

const CONTROLLERS = ['kube-controller-manager', 'kube-scheduler'];
const CRDS = fileURLToPath(new URL('../../../crds', import.meta.url));

export interface ControlPlaneOptions {
  /** Of this machine; default 127.0.0.1, which no pod reaches. */
  readonly address?: string;
  /** Whether Deployments get their pods, and pods their nodes: runs the controller manager and the scheduler as well. */
  readonly controllers?: boolean;
}

/** A real API server with its etcd: on loopback, by default without controllers, scheduler or nodes. */
export interface ControlPlane {
  /** https://address:port */
  readonly url: string;
  /** Of a user in the group system:masters, which may do everything. */
  readonly token: string;
  /** The certificate by which the API server is known, PEM. */
  readonly caFile: string;
  /** The requests of service accounts to the API server: see support/kubernetes/audit-log.ts. */
  readonly auditLog: string;
  /** Names the address, the certificate and the token. */
  readonly kubeconfigPath: string;
  /** What has been started, the API server of the present included. */
  readonly programs: readonly Program[];
  /** Runs kubectl as that user, and resolves with what it printed; rejects with what it complained of. */
  kubectl(...args: string[]): Promise<string>;
  /** The object or list at a path of the API server, as that user. In place of kubectl where something is polled. */
  read<T>(path: string): Promise<T>;
  /** Applies every definition in the folder (default: the project's crds/), and waits until they are served. */
  installCrds(folder?: string): Promise<void>;
  /**
   * Resolves when definitions are served, which is a moment after they are established, and their objects are in the API
   * server's memory. Where they are not, Kubernetes may fail to delete the definition, and then tries again only after five
   * minutes: "storage is (re)initializing", https://github.com/operator-framework/operator-controller/issues/1437.
   *
   * @param names `renderpools.platen.dev,…`
   */
  served(names: string): Promise<void>;
  /** Ends the API server as a power cut would. etcd keeps what was written. */
  haltApiServer(): Promise<void>;
  /**
   * Starts it again on the same port and certificate, ready when this resolves; and its controllers, as in any control plane
   * in which they elect a leader: without the API server they lose their Lease, end, and are started again.
   */
  restartApiServer(): Promise<void>;
  /** Ends everything, and removes its folder. */
  stop(): Promise<void>;
}

/** Starts etcd and the API server on free ports, ready when this resolves (some four seconds). They end with this process. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const { address = '127.0.0.1', controllers = false } = options;
  const [set, last] = controllers ? ['cluster', 'kube-scheduler'] : ['api', 'kubectl'];
  if (!existsSync(join(BIN, last))) {
    throw new Error(`There is no ${last}: \`node scripts/install-go-programs.mjs ${set}\` builds it.`);
  }
  const folder = await mkdtemp(join(tmpdir(), 'platen-kubernetes-'));
  const programs: Program[] = [];
  const stop = async () => {
    // Their data is of no more use, so an orderly shutdown is not needed.
    await Promise.all(programs.map((program) => program.end('SIGKILL')));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const etcdUrl = `http://127.0.0.1:${await freePort()}`;
    programs.push(await startEtcd(folder, etcdUrl));
    const files = await prepareApiServer(folder, { address, etcdUrl, serviceAccounts: controllers });
    programs.push(await startApiServer(files));
    if (controllers) programs.push(...(await startControllers(files)));
    const reader = new ApiReader(files);
    return controlPlane(files, reader, programs, async () => {
      await reader.close();
      await stop();
    });
  } catch (error) {
    await stop();
    throw error;
  }
}

function controlPlane(
  files: ApiServerFiles,
  reader: ApiReader,
  programs: Program[],
  stop: () => Promise<void>,
): ControlPlane {
  const { url, token, caFile, auditLog, kubeconfigPath } = files;
  const kubectl = (...args: string[]) => runKubectl(kubeconfigPath, args);
  const haltApiServer = async () => {
    const server = programs.find(({ name }) => name === 'kube-apiserver');
    await server?.end('SIGKILL');
  };
  const served = (names: string) => {
    // A list in pages is answered from etcd at once; one list of all waits for the memory.
    const areServed = () =>
      kubectl('get', names, '--all-namespaces', '--chunk-size=0').then(
        () => true,
        () => false,
      );
    return eventually(`${names} are served`, areServed);
  };
  return {
    url,
    token,
    caFile,
    auditLog,
    kubeconfigPath,
    programs,
    kubectl,
    read: (path) => reader.read(path),
    installCrds: async (from = CRDS) => {
      await kubectl('apply', '--server-side', '-f', from);
      const definitions = (await kubectl('get', '-f', from, '-o', 'name')).trim().split('\n');
      await served(definitions.map((name) => name.split('/').at(-1)).join());
    },
    served,
    haltApiServer,
    restartApiServer: async () => {
      await haltApiServer();
      const index = programs.findIndex(({ name }) => name === 'kube-apiserver');
      programs[index] = await startApiServer(files);
      const before = programs.filter(({ name }) => CONTROLLERS.includes(name));
      if (before.length === 0) return;
      await Promise.all(before.map((program) => program.end('SIGKILL')));
      const others = programs.filter((program) => !before.includes(program));
      programs.splice(0, programs.length, ...others, ...(await startControllers(files)));
    },
    stop,
  };
}

/** They read the API server's kubeconfig, and serve no port of their own. */
async function startControllers(files: ApiServerFiles): Promise<Program[]> {
  const { folder } = files;
  const common = [
    `--kubeconfig=${files.kubeconfigPath}`,
    '--leader-elect=false',
    '--secure-port=0',
    '--kube-api-qps=200',
    '--kube-api-burst=400',
  ];
  const manager = [
    `--service-account-private-key-file=${files.serviceAccountKey}`,
    `--root-ca-file=${files.caFile}`,
  ];
  return await Promise.all([
    startProgram('kube-controller-manager', [...common, ...manager], { folder }),
    startProgram('kube-scheduler', common, { folder }),
  ]);
}

let shared: Promise<ControlPlane> | undefined;

/**
 * The one control plane that all tests of this process share: each works in namespaces of its own, and leaves the API
 * server running. It is stopped when the tests are over.
 */
export function sharedControlPlane(): Promise<ControlPlane> {
  shared ??= startControlPlane();
  return shared;
}

// A root hook: mocha runs it after the last test of the last file.
if (typeof after === 'function') {
  after(async () => {
    await (await shared)?.stop();
  });
}
