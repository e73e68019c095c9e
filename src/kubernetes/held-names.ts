import type { Plan } from '../tenants/plans/plan.ts';
import { type MirroredSet, UNKNOWN_ORIGIN } from '../tenants/plans/plan-mirror.ts';
import type { PoolSettings } from '../tenants/plans/plan-source.ts';

/** The value that the mirror has under a name, and the namespace that it comes from. */
export interface Held<T> {
  readonly value: T;
  readonly namespace: string;
}

/** Mirrored values, by name, that stay unchanged because their namespace has not been read yet. */
export interface HeldNames {
  readonly plans: ReadonlyMap<string, Held<Plan>>;
  readonly pools: ReadonlyMap<string, Held<PoolSettings>>;
}

export const NOTHING_HELD: HeldNames = { plans: new Map(), pools: new Map() };

/**
 * A plan or a pool of a namespace that cannot be read may still exist: it is held, and so is its name.
 *
 * @param mirrored what was in force when this process began to lead.
 * @param unread the namespaces whose plans, and those whose pools, have not been listed.
 */
export function heldNames(
  mirrored: MirroredSet | undefined,
  unread: { readonly plans: ReadonlySet<string>; readonly pools: ReadonlySet<string> },
): HeldNames {
  if (mirrored === undefined) return NOTHING_HELD;
  const { set, origins } = mirrored;
  return {
    plans: held(set.plans, origins?.plans, unread.plans),
    pools: held(set.pools, origins?.pools, unread.pools),
  };
}

/** Whether a name is held. A name of unknown origin is, unless an object that can be read has it. */
export function isHeld<T>(held: Held<T> | undefined, isSeen: boolean): held is Held<T> {
  return held !== undefined && !(isSeen && held.namespace === UNKNOWN_ORIGIN);
}

function held<T>(
  values: ReadonlyMap<string, T>,
  origins: ReadonlyMap<string, string> | undefined,
  unread: ReadonlySet<string>,
): ReadonlyMap<string, Held<T>> {
  if (unread.size === 0) return new Map();
  const found = [...values].flatMap(([name, value]): [string, Held<T>][] => {
    // A name without an origin is built in.
    const namespace = origins === undefined ? UNKNOWN_ORIGIN : origins.get(name);
    const isUnread = namespace === UNKNOWN_ORIGIN || (namespace !== undefined && unread.has(namespace));
    return isUnread ? [[name, { value, namespace }]] : [];
  });
  return new Map(found);
}
