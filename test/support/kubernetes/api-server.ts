import { execFile } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Agent, request } from 'undici';
import { HUNG_MS } from '../eventually.ts';
import { freePort } from '../ports.ts';
import { BIN, type Program, startProgram } from './program.ts';

/** Services get their addresses from here; the first address is the API server's own. */
export const SERVICE_RANGE = '10.96.0.0/16';
/** Records the callers, their requests and the responses' statuses, without bodies. */
const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', userGroups: ['system:serviceaccounts'] }, { level: 'None' }],
};
const AUDIT_MEGABYTES = 100;
const KUBECTL_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Where an API server is, what it is known by, and which files it shares with the controllers. */
export interface ApiServerFiles {
  readonly folder: string;
  readonly address: string;
  readonly port: number;
  /** https://address:port */
  readonly url: string;
  readonly etcdUrl: string;
  readonly token: string;
  /** Made by the server, and kept over a restart. PEM. */
  readonly caFile: string;
  readonly kubeconfigPath: string;
  /** The private key that the tokens of service accounts are signed with, PEM. */
  readonly serviceAccountKey: string;
  /** The requests of service accounts: one JSON line each. */
  readonly auditLog: string;
  /** Whether each pod must have its service account: something has to make these. */
  readonly serviceAccounts: boolean;
}

/** Chooses ports and secrets, and writes what the server reads when it starts. */
export async function prepareApiServer(
  folder: string,
  options: { readonly address: string; readonly etcdUrl: string; readonly serviceAccounts: boolean },
): Promise<ApiServerFiles> {
  const port = await freePort();
  const files = {
    ...options,
    folder,
    port,
    url: `https://${options.address}:${port}`,
    token: randomBytes(16).toString('hex'),
    caFile: join(folder, 'apiserver.crt'),
    kubeconfigPath: join(folder, 'kubeconfig'),
    serviceAccountKey: join(folder, 'service-accounts.key'),
    auditLog: join(folder, 'audit.log'),
  };
  await writeFile(join(folder, 'tokens.csv'), `${files.token},admin,admin,system:masters\n`);
  await writeFile(join(folder, 'audit-policy.json'), JSON.stringify(AUDIT_POLICY));
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await writeFile(files.serviceAccountKey, privateKey.export({ type: 'pkcs1', format: 'pem' }));
  return files;
}

/** Starts etcd with its data in the folder; it is ready when the API server is. */
export async function startEtcd(folder: string, url: string): Promise<Program> {
  const peerUrl = `http://127.0.0.1:${await freePort()}`;
  const args = [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    // The data outlives no power cut, and need not.
    '--unsafe-no-fsync',
  ];
  return await startProgram('etcd', args, { folder });
}

/** Starts the API server, ready when this resolves; the first start writes the kubeconfig. */
export async function startApiServer(files: ApiServerFiles): Promise<Program> {
  const server = await startProgram('kube-apiserver', serverFlags(files), { folder: files.folder });
  try {
    await server.until('ready', () => isReady(files), HUNG_MS);
  } catch (error) {
    await server.end('SIGKILL');
    throw error;
  }
  await writeFile(files.kubeconfigPath, kubeconfig(files, await readFile(files.caFile)));
  return server;
}

function serverFlags(files: ApiServerFiles): string[] {
  return [
    `--etcd-servers=${files.etcdUrl}`,
    `--bind-address=${files.address}`,
    `--advertise-address=${files.address}`,
    `--secure-port=${files.port}`,
    // It makes its own certificate there, apiserver.crt.
    `--cert-dir=${files.folder}`,
    `--token-auth-file=${join(files.folder, 'tokens.csv')}`,
    '--authorization-mode=Node,RBAC',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${files.serviceAccountKey}`,
    `--service-account-signing-key-file=${files.serviceAccountKey}`,
    `--service-cluster-ip-range=${SERVICE_RANGE}`,
    `--audit-policy-file=${join(files.folder, 'audit-policy.json')}`,
    `--audit-log-path=${files.auditLog}`,
    `--audit-log-maxsize=${AUDIT_MEGABYTES}`,
    '--audit-log-maxbackup=1',
    // As on OpenShift: making an object that holds up the deletion of its owner needs the right to.
    '--enable-admission-plugins=OwnerReferencesPermissionEnforcement',
    ...(files.serviceAccounts ? [] : ['--disable-admission-plugins=ServiceAccount']),
    '--allow-privileged=true',
    // Names of nodes mean nothing to this machine's resolver.
    '--kubelet-preferred-address-types=InternalIP',
    '--profiling=false',
  ];
}

async function isReady({ url, token, caFile }: ApiServerFiles): Promise<boolean> {
  if (!existsSync(caFile)) return false;
  const dispatcher = new Agent({ connect: { ca: await readFile(caFile) } });
  try {
    const headers = { authorization: `Bearer ${token}` };
    const { statusCode, body } = await request(`${url}/readyz`, { dispatcher, headers });
    await body.dump();
    return statusCode === 200;
  } catch {
    return false;
  } finally {
    await dispatcher.destroy();
  }
}

function kubeconfig({ url, token }: ApiServerFiles, ca: Buffer): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin', namespace: 'default' } }],
    clusters: [
      { name: 'test', cluster: { server: url, 'certificate-authority-data': ca.toString('base64') } },
    ],
    users: [{ name: 'admin', user: { token } }],
  });
}

/** Reads from an API server, on connections that are kept: a hundredth of what it costs to start kubectl. */
export class ApiReader {
  readonly #files: ApiServerFiles;
  #agent: Agent | undefined;

  constructor(files: ApiServerFiles) {
    this.#files = files;
  }

  /** The object or list at a path. @throws Error with what the API server has against it. */
  async read<T>(path: string): Promise<T> {
    const { url, token, caFile } = this.#files;
    this.#agent ??= new Agent({ connect: { ca: await readFile(caFile) } });
    const options = { dispatcher: this.#agent, headers: { authorization: `Bearer ${token}` } };
    // A kept connection is one of an API server that may have ended meanwhile.
    const { statusCode, body } = await request(url + path, options).catch(() => request(url + path, options));
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`GET ${path}: ${statusCode}: ${text.trim()}`);
    return JSON.parse(text) as T;
  }

  async close(): Promise<void> {
    await this.#agent?.destroy();
  }
}

/** Runs kubectl, and resolves with what it printed; rejects with what it complained of. */
export async function runKubectl(kubeconfigPath: string, args: readonly string[]): Promise<string> {
  const all = ['--kubeconfig', kubeconfigPath, ...args];
  const options = { timeout: HUNG_MS, maxBuffer: KUBECTL_OUTPUT_BYTES };
  try {
    return (await promisify(execFile)(join(BIN, 'kubectl'), all, options)).stdout;
  } catch (error) {
    const { stderr, signal, killed } = error as { stderr?: string; signal?: string; killed?: boolean };
    // kubectl ends by itself when it is asked to at its limit, so there is no signal then.
    const ended = killed ? `ended after ${HUNG_MS / 1000} s` : signal && `ended by ${signal}`;
    // On one line, which is all that a summary of failed tests shows.
    const said = [stderr?.trim().replaceAll('\n', '; '), ended].filter(Boolean);
    throw Object.assign(error as Error, { message: `kubectl ${args.join(' ')}: ${said.join(', ')}` });
  }
}
