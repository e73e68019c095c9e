import { randomUUID } from 'node:crypto';
import type { Kind, KubeObject } from '../../../src/kubernetes/runtime/client/kube-object.ts';
import type { KubernetesApi } from '../../../src/kubernetes/runtime/client/kubernetes-api.ts';

export type ConfigMap = KubeObject<{ readonly data?: Readonly<Record<string, string>> }>;

export const CONFIG_MAPS: Kind<ConfigMap> = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
};
export const NAMESPACES: Kind = { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace' };

export function configMap(namespace: string, name: string, data: Record<string, string> = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data };
}

/** A namespace of its own for a test. @returns its name. */
export async function makeNamespace(api: KubernetesApi): Promise<string> {
  const name = `test-${randomUUID().slice(0, 13)}`;
  await api.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  return name;
}
