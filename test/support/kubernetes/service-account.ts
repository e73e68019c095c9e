import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest } from '../../chart/support/helm.ts';
import type { ControlPlane } from './control-plane.ts';

/** Gives the service accounts of a rendered chart the rights that it gives them, and nothing else of it. */
export async function grantRights(
  plane: ControlPlane,
  folder: string,
  manifests: readonly Manifest[],
): Promise<void> {
  const items = manifests.filter(({ kind }) => /^(ServiceAccount|Role|RoleBinding)$/.test(kind));
  const file = join(folder, 'rights.json');
  await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  await plane.kubectl('apply', '-f', file);
}

/**
 * Writes a kubeconfig of an existing service account: requests that its Roles do not allow are rejected.
 *
 * @param folder where the file is put.
 * @returns its path.
 */
export async function kubeconfigOf(
  plane: ControlPlane,
  folder: string,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<string> {
  const token = (await plane.kubectl('create', 'token', name, '-n', namespace)).trim();
  const path = join(folder, `kubeconfig-${namespace}-${name}`);
  const ca = (await readFile(plane.caFile)).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u', namespace } }],
    clusters: [{ name: 'c', cluster: { server: plane.url, 'certificate-authority-data': ca } }],
    users: [{ name: 'u', user: { token } }],
  };
  await writeFile(path, JSON.stringify(config));
  return path;
}
