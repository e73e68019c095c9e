import { type Condition, findCondition, setCondition } from '../../infra/kube/client/conditions.ts';
import { EVENTS, type EventReason } from './events.ts';
import type { PLAN_CONDITIONS, POOL_CONDITIONS } from './reasons.ts';

type Tables = typeof PLAN_CONDITIONS | typeof POOL_CONDITIONS;

/** A finding about the subject of one condition. */
export interface Finding<Table extends Tables, Type extends keyof Table = keyof Table> {
  readonly type: Type;
  readonly reason: string;
  readonly message: string;
}

/**
 * The conditions with these findings in them; conditions without a finding are removed. The status of each is taken
 * from the documented list, by its reason.
 */
export function conditionsOf<Table extends Tables>(
  table: Table,
  before: readonly Condition[] | undefined,
  findings: readonly Finding<Table>[],
  generation: number | undefined,
  now: Date,
): readonly Condition[] {
  const types = new Set(findings.map(({ type }) => String(type)));
  const kept = (before ?? []).filter(({ type }) => types.has(type));
  return findings.reduce<readonly Condition[]>((conditions, { type, reason, message }) => {
    const entry = entryOf(table, String(type), reason);
    return setCondition(
      conditions,
      {
        type: String(type),
        status: entry.status,
        reason,
        message: message || entry.meaning,
        ...(generation !== undefined && { observedGeneration: generation }),
      },
      now,
    );
  }, kept);
}

/**
 * The finding `Ready`: that of the first condition that is not True, or else that all of them are.
 *
 * @param findings those that have to be True, the most fundamental first.
 */
export function readyFinding<Table extends Tables>(
  table: Table,
  findings: readonly Finding<Table>[],
): { readonly type: 'Ready'; readonly reason: string; readonly message: string } {
  for (const { type, reason, message } of findings) {
    const { status, meaning } = entryOf(table, String(type), reason);
    if (status !== 'True') return { type: 'Ready', reason, message: message || meaning };
  }
  return { type: 'Ready', reason: 'Ready', message: '' };
}

function entryOf(table: Tables, type: string, reason: string) {
  const conditions: Readonly<Record<string, { readonly reasons: Readonly<Record<string, Entry>> }>> = table;
  const entry = conditions[type]?.reasons[reason];
  if (entry === undefined) throw new Error(`${type} has no reason ${reason}.`);
  return entry;
}

interface Entry {
  readonly status: Condition['status'];
  readonly meaning: string;
}

export interface ResourceEvent {
  readonly reason: EventReason;
  readonly note: string;
}

/** The events for a change of conditions: for each new reason that is in the list of events. */
export function eventsOf(
  before: readonly Condition[] | undefined,
  after: readonly Condition[],
): readonly ResourceEvent[] {
  return after.flatMap(({ type, reason, message }) =>
    isEvent(reason) && findCondition(before, type)?.reason !== reason ? [{ reason, note: message }] : [],
  );
}

function isEvent(reason: string): reason is EventReason {
  return Object.hasOwn(EVENTS, reason);
}
