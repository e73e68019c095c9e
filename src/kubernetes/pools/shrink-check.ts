import type { Pod } from '../resources/kinds.ts';
import { conditionOf, podState } from './fleet.ts';

/** A shrink whose victims are to be checked. */
export interface ShrinkCheck {
  /** Pods that may be deleted: the marked ones, and those that were not ready. */
  readonly expected: ReadonlySet<string>;
  /** Pods that were ready and are to stay. */
  readonly staying: ReadonlySet<string>;
  /** How many pods the ReplicaSet was to delete. */
  readonly pods: number;
  readonly untilMs: number;
}

interface CheckedShrink {
  /** Undefined when the check is complete. */
  readonly check: ShrinkCheck | undefined;
  /** Names of workers that died instead of chosen ones. */
  readonly wrong: readonly string[];
}

/** In milliseconds. The ReplicaSet controller needs moments; a pod that dies later than this dies of another cause. */
const CHECK_FOR_MS = 30_000;

/** To be made from the pods as they were when the replicas went down. */
export function beginShrinkCheck(
  pods: readonly Pod[],
  victims: ReadonlySet<string>,
  count: number,
  nowMs: number,
): ShrinkCheck {
  const alive = pods.map(podState).filter(({ phase }) => phase !== 'terminating');
  const mayGo = alive.filter(({ name, phase }) => victims.has(name) || phase !== 'ready');
  const expected = new Set(mayGo.map(({ name }) => name));
  const staying = new Set(alive.map(({ name }) => name).filter((name) => !expected.has(name)));
  return { expected, staying, pods: count, untilMs: nowMs + CHECK_FOR_MS };
}

/**
 * Checks which pods a shrink has ended. A pod that is drained from its node, or that dies once all the expected ones
 * have, died of another cause.
 */
export function checkShrink(
  check: ShrinkCheck | undefined,
  pods: readonly Pod[],
  nowMs: number,
): CheckedShrink {
  if (check === undefined) return { check: undefined, wrong: [] };
  const living = new Map(pods.map((pod) => [pod.metadata.name, pod]));
  const isDead = (name: string) =>
    living.get(name)?.metadata.deletionTimestamp !== undefined || !living.has(name);
  const isDisrupted = (name: string) => {
    const pod = living.get(name);
    return pod !== undefined && conditionOf(pod, 'DisruptionTarget')?.status === 'True';
  };
  const asExpected = [...check.expected].filter(isDead).length;
  const wrong = [...check.staying].filter((name) => isDead(name) && !isDisrupted(name));
  const counted = wrong.slice(0, Math.max(0, check.pods - asExpected));
  if (asExpected + counted.length >= check.pods) return { check: undefined, wrong: counted };
  return nowMs >= check.untilMs ? { check: undefined, wrong: counted } : { check, wrong: [] };
}
