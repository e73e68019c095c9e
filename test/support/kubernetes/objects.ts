import { randomUUID } from 'node:crypto';
import { EVENTS } from '../../../src/infra/kube/client/event-recorder.ts';
import type { Kind, KubeObject } from '../../../src/infra/kube/client/kube-object.ts';
import type { KubernetesApi } from '../../../src/infra/kube/client/kubernetes-api.ts';

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

type ReportedEvent = KubeObject<{
  readonly reason?: string;
  readonly note?: string;
  readonly regarding: { readonly name?: string };
}>;

/** The events of a namespace about objects of a name. */
export async function eventsAbout(
  api: KubernetesApi,
  namespace: string,
  name: string,
): Promise<readonly ReportedEvent[]> {
  const events = await api.list(EVENTS as Kind<ReportedEvent>, { namespace });
  return events.filter(({ regarding }) => regarding.name === name);
}

/** A namespace of its own for a test. @returns its name. */
export async function makeNamespace(api: KubernetesApi): Promise<string> {
  const name = `test-${randomUUID().slice(0, 13)}`;
  await api.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  return name;
}
