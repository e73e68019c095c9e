import { execFile } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Agent, request } from 'undici';
import { freePort } from '../processes.ts';
import { BIN, type Program, startProgram } from './program.ts';

const CRDS = fileURLToPath(new URL('../../../crds', import.meta.url));
const START_TIMEOUT_MS = 60_000;
const KUBECTL_TIMEOUT_MS = 60_000;

/** A real API server with its etcd, on loopback: no controllers, no scheduler, no nodes. */
export interface ControlPlane {
  /** https://127.0.0.1:port */
  readonly url: string;
  /** Of a user in the group system:masters, who may do everything. */
  readonly token: string;
  /** The certificate by which the API server is known, PEM. */
  readonly caFile: string;
  /** Names the address, the certificate and the token. */
  readonly kubeconfigPath: string;
  /** Runs kubectl as that user, and resolves with what it printed; rejects with what it complained of. */
  kubectl(...args: string[]): Promise<string>;
  /** Applies every definition in the folder (default: the project's crds/), and waits until they are served. */
  installCrds(folder?: string): Promise<void>;
  /** Ends the API server as a power cut would. etcd keeps what was written. */
  haltApiServer(): Promise<void>;
  /** Starts it again on the same port and certificate, ready when this resolves. */
  restartApiServer(): Promise<void>;
  /** Ends everything, and removes its folder. */
  stop(): Promise<void>;
}

/** Starts etcd and the API server on free ports, ready when this resolves (some four seconds). They end with this process. */
export async function startControlPlane(): Promise<ControlPlane> {
  if (!existsSync(join(BIN, 'kube-apiserver'))) {
    throw new Error('There is no API server: `node scripts/install-kubernetes.mjs api` builds it.');
  }
  const folder = await mkdtemp(join(tmpdir(), 'platen-kubernetes-'));
  const running: Program[] = [];
  const stop = async () => {
    // Nothing of their data is of use any more, so neither is a shutdown in good order.
    await Promise.all(running.map((program) => program.end('SIGKILL')));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    return await startIn(folder, running, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startIn(folder: string, running: Program[], stop: () => Promise<void>): Promise<ControlPlane> {
  const etcdUrl = `http://127.0.0.1:${await freePort()}`;
  running.push(await startEtcd(folder, etcdUrl));
  const token = randomBytes(16).toString('hex');
  await writeFile(join(folder, 'tokens.csv'), `${token},admin,admin,system:masters\n`);
  await writeFile(join(folder, 'service-accounts.key'), privateKey());

  const port = await freePort();
  const url = `https://127.0.0.1:${port}`;
  const caFile = join(folder, 'apiserver.crt');
  const kubeconfigPath = join(folder, 'kubeconfig');
  const startServer = async () => {
    const server = await startProgram('kube-apiserver', serverFlags(folder, port, etcdUrl), { folder });
    running.push(server);
    await server.until('ready', () => isReady(url, token, caFile), START_TIMEOUT_MS);
    return server;
  };
  let server = await startServer();
  await writeFile(kubeconfigPath, kubeconfig(url, token, await readFile(caFile)));

  const kubectl = (...args: string[]) => runKubectl(kubeconfigPath, args);
  return {
    url,
    token,
    caFile,
    kubeconfigPath,
    kubectl,
    installCrds: async (from = CRDS) => {
      await kubectl('apply', '--server-side', '-f', from);
      await kubectl('wait', '--for=condition=Established', '--timeout=30s', '-f', from);
    },
    haltApiServer: async () => void (await server.end('SIGKILL')),
    restartApiServer: async () => {
      await server.end('SIGKILL');
      server = await startServer();
    },
    stop,
  };
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

async function startEtcd(folder: string, url: string): Promise<Program> {
  const peerUrl = `http://127.0.0.1:${await freePort()}`;
  const etcd = await startProgram(
    'etcd',
    [
      `--data-dir=${join(folder, 'etcd')}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=default=${peerUrl}`,
      // The data outlives no power cut, and need not.
      '--unsafe-no-fsync',
    ],
    { folder },
  );
  return etcd;
}

function serverFlags(folder: string, port: number, etcdUrl: string): string[] {
  const serviceAccounts = join(folder, 'service-accounts.key');
  return [
    `--etcd-servers=${etcdUrl}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    // It makes its own certificate there, apiserver.crt, and keeps it over a restart.
    `--cert-dir=${folder}`,
    `--token-auth-file=${join(folder, 'tokens.csv')}`,
    '--authorization-mode=Node,RBAC',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${serviceAccounts}`,
    `--service-account-signing-key-file=${serviceAccounts}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    // Nothing here makes the service account that it would ask of every pod.
    '--disable-admission-plugins=ServiceAccount',
    '--profiling=false',
  ];
}

function privateKey(): string {
  const { privateKey: key } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return key.export({ type: 'pkcs1', format: 'pem' }).toString();
}

async function isReady(url: string, token: string, caFile: string): Promise<boolean> {
  if (!existsSync(caFile)) return false;
  const dispatcher = new Agent({ connect: { ca: await readFile(caFile) } });
  try {
    const { statusCode, body } = await request(`${url}/readyz`, {
      dispatcher,
      headers: { authorization: `Bearer ${token}` },
    });
    await body.dump();
    return statusCode === 200;
  } catch {
    return false;
  } finally {
    await dispatcher.destroy();
  }
}

function kubeconfig(server: string, token: string, ca: Buffer): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin', namespace: 'default' } }],
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': ca.toString('base64') } }],
    users: [{ name: 'admin', user: { token } }],
  });
}

async function runKubectl(kubeconfigPath: string, args: readonly string[]): Promise<string> {
  const all = ['--kubeconfig', kubeconfigPath, ...args];
  const options = { timeout: KUBECTL_TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)(join(BIN, 'kubectl'), all, options);
  return stdout;
}
