/** An entry of `status.conditions`, as metav1.Condition. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** One word in CamelCase, from a documented list. */
  readonly reason: string;
  /** For people. */
  readonly message: string;
  /** When `status` last changed, RFC 3339 in seconds. */
  readonly lastTransitionTime: string;
  /** The generation of the object that the condition was found for. */
  readonly observedGeneration?: number;
}

/**
 * The conditions with this one in them; there is one of each type. `lastTransitionTime` becomes `now` only when the
 * status changes.
 *
 * @returns the list itself when nothing differs, so that nothing needs to be written.
 */
export function setCondition(
  conditions: readonly Condition[],
  condition: Omit<Condition, 'lastTransitionTime'>,
  now: Date,
): readonly Condition[] {
  const index = conditions.findIndex(({ type }) => type === condition.type);
  const before = conditions[index];
  const lastTransitionTime =
    before?.status === condition.status ? before.lastTransitionTime : `${now.toISOString().slice(0, 19)}Z`;
  const after: Condition = { ...condition, lastTransitionTime };
  if (before === undefined) return [...conditions, after];
  return isSame(before, after) ? conditions : conditions.with(index, after);
}

function isSame(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.observedGeneration === b.observedGeneration
  );
}

export function findCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}
