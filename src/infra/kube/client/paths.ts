import type { Kind, ObjectRef } from './kube-object.ts';

type QueryValue = string | number | boolean | undefined;

/** The path of the objects of a kind: of one namespace, or of all without one. */
export function collectionPath({ group, version, plural }: Kind, namespace: string | undefined): string {
  const api = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return namespace === undefined
    ? `${api}/${plural}`
    : `${api}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
}

export function objectPath(kind: Kind, { namespace, name }: ObjectRef, subresource?: string): string {
  const path = `${collectionPath(kind, namespace)}/${encodeURIComponent(name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** Undefined values are left out. */
export function withQuery(path: string, query: Readonly<Record<string, QueryValue>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) parameters.set(name, String(value));
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}
