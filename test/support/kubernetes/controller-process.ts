import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from '../eventually.ts';
import { inheritedEnvironment } from '../inherited.ts';
import { freePort } from '../ports.ts';
import { endOf } from '../processes.ts';
import { PROGRAM } from '../program.ts';

/** What a chart mounts: the pods of every pool. */
export const WORKER_TEMPLATE = `
metadata:
  labels: { app.kubernetes.io/instance: test }
spec:
  containers:
    - name: worker
      image: platen:test
      args: [worker]
      env: [{ name: MONGODB_URI, valueFrom: { secretKeyRef: { name: platen, key: uri } } }]
      ports: [{ name: ops, containerPort: 9090 }]
      resources: { requests: { cpu: 1000m } }
`;

export interface ControllerProcess {
  readonly name: string;
  readonly child: ChildProcess;
  /** Lines of its log, as they are. */
  readonly log: readonly string[];
  /** Resolves with the code, or the signal, that it ended with. */
  readonly ended: Promise<number | string>;
  metrics(): Promise<string>;
  /** The status of the response to GET /readyz. */
  readiness(): Promise<number>;
  /** Changes the file with the template of a worker, which it reads again. */
  setTemplate(yaml: string): Promise<void>;
  /** It leads, its caches are full, and it works. */
  works(): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<number | string>;
}

export interface ControllerOptions {
  readonly kubeconfigPath: string;
  readonly mongoUri: string;
  readonly namespace: string;
  readonly name?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** YAML: a list of manifests. */
  readonly defaultResources?: string;
}

/** `platen controller` as a process of its own. */
export async function startControllerProcess(options: ControllerOptions): Promise<ControllerProcess> {
  const { name = 'controller-0', namespace } = options;
  const folder = await mkdtemp(join(tmpdir(), 'platen-controller-'));
  const template = join(folder, 'worker-template.yaml');
  const defaults = join(folder, 'default-resources.yaml');
  await writeFile(template, WORKER_TEMPLATE);
  await writeFile(defaults, options.defaultResources ?? '[]');
  const port = await freePort();
  const child = spawn(process.execPath, [PROGRAM, 'controller'], {
    env: {
      ...inheritedEnvironment(),
      KUBECONFIG: options.kubeconfigPath,
      MONGODB_URI: options.mongoUri,
      POD_NAME: name,
      POD_NAMESPACE: namespace,
      PLATEN_OPS_PORT: String(port),
      PLATEN_HOST: '127.0.0.1',
      PLATEN_WORKER_TEMPLATE_FILE: template,
      PLATEN_DEFAULT_RESOURCES_FILE: defaults,
      ...options.environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => log.push(line));
  }
  const ended = endOf(child);
  child.once('exit', () => void rm(folder, { recursive: true, force: true }));
  return {
    name,
    child,
    log,
    ended,
    readiness: async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status,
    setTemplate: (yaml) => writeFile(template, yaml),
    metrics: async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text(),
    works: () =>
      eventually('it works', () => {
        if (child.exitCode !== null) throw new Error(`the controller has ended:\n${log.join('\n')}`);
        return log.some((line) => line.includes('the controller works'));
      }),
    stop(signal = 'SIGTERM') {
      child.kill(signal);
      return ended;
    },
  };
}
