import { type KubeObject, keyOf } from '../../infra/kube/client/kube-object.ts';
import { hasReservedName, type Installation } from './installation.ts';

/**
 * Names of plans and pools are unique in the whole installation, while several namespaces may have objects of one name:
 * the oldest holds the name. Of objects of the same second, that of the first namespace holds it. One with a built-in
 * name outside the home of the installation never does.
 *
 * @returns the object that holds each name, by name.
 */
export function holdersOfNames<T extends KubeObject>(
  objects: Iterable<T>,
  installation: Installation,
): ReadonlyMap<string, T> {
  const holders = new Map<string, T>();
  for (const object of objects) {
    if (hasReservedName(object, installation)) continue;
    const other = holders.get(object.metadata.name);
    if (other === undefined || isBefore(object, other)) holders.set(object.metadata.name, object);
  }
  return holders;
}

function isBefore(a: KubeObject, b: KubeObject): boolean {
  const madeAt = ({ metadata }: KubeObject) => Date.parse(metadata.creationTimestamp ?? '') || 0;
  return madeAt(a) - madeAt(b) < 0 || (madeAt(a) === madeAt(b) && keyOf(a.metadata) < keyOf(b.metadata));
}
