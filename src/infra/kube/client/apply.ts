import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { FieldSet, Kind, KubeObject } from './kube-object.ts';
import type { ApplyOptions, KubernetesApi, New } from './kubernetes-api.ts';

/** A digest of all that was applied last. */
const APPLIED_ANNOTATION = 'platen.dev/applied';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * Server-side apply, but only when something differs: applying the same again is not always free of writes
 * (kubernetes#121404, #124605). Nothing differs when the same was applied last and the manager still owns every field
 * of it: a client that changes or removes a field takes it from its manager.
 *
 * @param live the object as it is known, undefined when there is none.
 * @returns the object as it is afterwards; `live` itself when there was nothing to do.
 */
export async function applyWhenChanged<T extends KubeObject>(
  api: KubernetesApi,
  kind: Kind<T>,
  live: T | undefined,
  wanted: New<T>,
  options: ApplyOptions,
): Promise<T> {
  const marked = withDigest(wanted);
  if (live !== undefined && isApplied(live, marked, options.fieldManager)) return live;
  return api.apply(kind, marked, options);
}

/** Writes the status whole, if it differs. @returns the object afterwards; `live` when nothing was to do. */
export async function writeStatus<T extends KubeObject<{ readonly status?: object }>>(
  api: KubernetesApi,
  kind: Kind<T>,
  live: T,
  status: object,
  options: ApplyOptions,
): Promise<T> {
  const { apiVersion, metadata } = live;
  const asJson: unknown = JSON.parse(JSON.stringify(status));
  if (isDeepStrictEqual(live.status ?? {}, asJson)) return live;
  const { namespace, name } = metadata;
  const object = { apiVersion, kind: live.kind, metadata: { namespace, name }, status: asJson };
  return api.apply<KubeObject>(kind as Kind, object as New<KubeObject>, {
    ...options,
    subresource: 'status',
  }) as Promise<T>;
}

function withDigest<T extends KubeObject>(wanted: New<T>): New<T> {
  const digest = createHash('sha256')
    .update(JSON.stringify(sorted(wanted)))
    .digest('hex')
    .slice(0, 32);
  const annotations = { ...wanted.metadata.annotations, [APPLIED_ANNOTATION]: digest };
  return { ...wanted, metadata: { ...wanted.metadata, annotations } };
}

function isApplied(live: KubeObject, marked: New<KubeObject>, fieldManager: string): boolean {
  const isSame =
    live.metadata.annotations?.[APPLIED_ANNOTATION] === marked.metadata.annotations?.[APPLIED_ANNOTATION];
  const owned = live.metadata.managedFields?.find(
    ({ manager, operation, subresource }) =>
      manager === fieldManager && operation === 'Apply' && !subresource,
  )?.fieldsV1;
  return isSame && owned !== undefined && ownsAll(owned, managedPart(marked));
}

/** The fields that managers own: all but those that identify the object. */
function managedPart({ metadata, ...object }: New<KubeObject>): Json {
  const { apiVersion, kind, ...rest } = object;
  const { name, namespace, uid, resourceVersion, managedFields, ...managed } = metadata;
  return JSON.parse(JSON.stringify({ ...rest, metadata: managed }));
}

/** Whether every field of the value is in the set. A field without fields below it stands for its whole content. */
function ownsAll(owned: FieldSet, value: Json): boolean {
  const paths = Object.keys(owned);
  if (paths.length === 0 || value === null || typeof value !== 'object') return true;
  if (isList(value)) return value.every((item) => ownsItem(owned, item));
  return Object.entries(value).every(([name, field]) => {
    const below = owned[`f:${name}`];
    return below === undefined ? field === null : ownsAll(below, field);
  });
}

function ownsItem(owned: FieldSet, item: Json): boolean {
  return Object.entries(owned).some(([path, below]) => {
    if (path.startsWith('v:')) return isDeepStrictEqual(JSON.parse(path.slice(2)), item);
    return path.startsWith('k:') && hasKeys(item, JSON.parse(path.slice(2))) && ownsAll(below, item);
  });
}

/** A missing key has its default: for example, the protocol of a port. */
function hasKeys(item: Json, keys: Readonly<Record<string, Json>>): boolean {
  if (item === null || typeof item !== 'object' || isList(item)) return false;
  return Object.entries(keys).every(([name, value]) => item[name] === undefined || item[name] === value);
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** The same for the same content, in any order of keys. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, field]) => [name, sorted(field)]));
}
