import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kind } from '../infra/kube/client/kube-object.ts';
import type { KubernetesApi } from '../infra/kube/client/kubernetes-api.ts';
import { openKubernetesApi } from '../infra/kube/client/open-kubernetes-api.ts';
import { CommandError } from './command-error.ts';

const USAGE = `usage: platen install-seccomp-profile SOURCE TARGET LABEL=VALUE

Copies the file SOURCE to TARGET, a path below the kubelet's folder of seccomp profiles, and labels the node NODE_NAME, for as
long as it runs. The chart's DaemonSet uses it.`;

/** The pause between two checks of the file and the label, and the pause after a failed one, in milliseconds. */
const CHECK_EVERY_MS = 30_000;
const RETRY_AFTER_MS = 5000;

const NODE: Kind = { group: '', version: 'v1', plural: 'nodes', kind: 'Node' };

interface Installation {
  readonly source: string;
  readonly target: string;
  readonly node: string;
  readonly label: { readonly name: string; readonly value: string };
}

interface Deps {
  /** Stops the command. */
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
}

/** `platen install-seccomp-profile …`. @throws CommandError for invalid arguments, or without NODE_NAME. */
export async function runSeccompProfileCommand(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  { signal, print }: Deps,
): Promise<void> {
  const installation = parse(argv, environment);
  const api = await openKubernetesApi({ userAgent: 'platen-seccomp-installer' });
  try {
    while (!signal.aborted) {
      const wait = await install(installation, api, print).then(
        () => CHECK_EVERY_MS,
        (error: Error) => {
          print(`It failed, and is tried again in ${RETRY_AFTER_MS / 1000} s: ${error.message}`);
          return RETRY_AFTER_MS;
        },
      );
      await sleep(wait, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    await api.close();
  }
}

/** The label is set last, because it says that the profile is present. */
async function install(
  { source, target, node, label }: Installation,
  api: KubernetesApi,
  print: (text: string) => void,
): Promise<void> {
  if (await copyWhole(source, target)) print(`The profile is at ${target}.`);
  const found = await api.get(NODE, { name: node });
  if (found === undefined) throw new Error(`there is no node ${node}`);
  if (found.metadata.labels?.[label.name] === label.value) return;
  await api.mergePatch(NODE, { name: node }, { metadata: { labels: { [label.name]: label.value } } });
  print(`The node ${node} has the label ${label.name}=${label.value}.`);
}

/** Replaces the target atomically, because the kubelet may read it at any moment. @returns whether it was replaced. */
async function copyWhole(source: string, target: string): Promise<boolean> {
  const wanted = await readFile(source);
  const present = await readFile(target).catch(() => undefined);
  if (present?.equals(wanted)) return false;
  await mkdir(dirname(target), { recursive: true, mode: 0o755 });
  await writeFile(`${target}.new`, wanted, { mode: 0o644 });
  await rename(`${target}.new`, target);
  return true;
}

function parse(argv: readonly string[], environment: NodeJS.ProcessEnv): Installation {
  const [source, target, setting = '', ...more] = argv;
  const [name = '', value = ''] = setting.split('=');
  if (source === undefined || target === undefined || name === '' || value === '' || more.length > 0) {
    throw new CommandError(USAGE);
  }
  const node = environment.NODE_NAME;
  if (node === undefined || node === '') throw new CommandError(`NODE_NAME is not set.\n\n${USAGE}`);
  return { source, target, node, label: { name, value } };
}
