/** The API server's metadata of every object; fields that Platen does not use are carried along unread. */
interface ObjectMeta {
  readonly name: string;
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string;
  readonly uid?: string;
  /** The version of the object in the store; newer ones are greater (`isOlderVersion`). */
  readonly resourceVersion?: string;
  /** Counts the changes of the spec. */
  readonly generation?: number;
  readonly creationTimestamp?: string;
  /** Set once the object is being deleted; it stays until its finalizers are gone. */
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFields[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** The fields of an object that a manager has set; see "Field management" in Kubernetes' documentation. */
interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly fieldsV1?: FieldSet;
}

/** `f:name` is a field, `k:{…}` an item of a list by its key, `v:…` one by its value, `.` the thing itself. */
export interface FieldSet {
  readonly [path: string]: FieldSet;
}

/** An object as the API server holds it: raw JSON, so that fields unknown to this code are kept. */
export type KubeObject<Rest extends object = object> = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
} & Rest;

/** A kind of object: its path, and by type parameter the shape of its objects. */
export interface Kind<T extends KubeObject = KubeObject> {
  /** Empty for the core group (`v1`). */
  readonly group: string;
  readonly version: string;
  /** As in the path: `renderpools`. */
  readonly plural: string;
  readonly kind: string;
  /** Never set: it carries the type of the objects. */
  readonly objects?: T;
}

/**
 * @param apiVersion as in manifests: `apps/v1`, or `v1` for the core group.
 * @param plural as in the path.
 */
export function kindOf<T extends KubeObject>(apiVersion: string, kind: string, plural: string): Kind<T> {
  const [version, group = ''] = apiVersion.split('/').reverse();
  return { group, version: version!, plural, kind };
}

/** Identifies an object of a kind. */
export interface ObjectRef {
  readonly name: string;
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string;
}

/** `apiVersion` as the objects of a kind have it: `apps/v1`, or `v1` for the core group. */
export function apiVersionOf({ group, version }: Kind): string {
  return group === '' ? version : `${group}/${version}`;
}

/** `namespace/name`, or the name alone for cluster-scoped objects: the key of informers and work queues. */
export function keyOf({ namespace, name }: ObjectRef): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** The inverse of `keyOf`. */
export function refOf(key: string): ObjectRef {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Whether a resource version is older; decimal numbers of any length, comparable within a kind (KEP-5504). */
export function isOlderVersion(version: string, than: string): boolean {
  return version.length === than.length ? version < than : version.length < than.length;
}

/** The entry of `ownerReferences` by which a dependent object is deleted with its owner. */
export function controllerReference(owner: KubeObject): OwnerReference {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
}
