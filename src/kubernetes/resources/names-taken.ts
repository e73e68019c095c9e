import { type KubeObject, keyOf } from '../client/kube-object.ts';

/**
 * Names of plans and pools hold for the whole installation, while objects of one name may be in several namespaces: the
 * oldest has the name. Among those of the same second, the first namespace has it.
 *
 * @returns by name, the object that has it.
 */
export function holdersOfNames<T extends KubeObject>(objects: Iterable<T>): ReadonlyMap<string, T> {
  const holders = new Map<string, T>();
  for (const object of objects) {
    const other = holders.get(object.metadata.name);
    if (other === undefined || isBefore(object, other)) holders.set(object.metadata.name, object);
  }
  return holders;
}

function isBefore(a: KubeObject, b: KubeObject): boolean {
  const madeAt = ({ metadata }: KubeObject) => Date.parse(metadata.creationTimestamp ?? '') || 0;
  return madeAt(a) - madeAt(b) < 0 || (madeAt(a) === madeAt(b) && keyOf(a.metadata) < keyOf(b.metadata));
}
