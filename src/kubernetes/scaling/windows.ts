import type { AutoscalerState, PoolScaling } from './types.ts';

type Wanted = AutoscalerState['wanted'];
type Shrinks = AutoscalerState['shrinks'];

/** The sizes wanted within the window, with the newest; sizes that a later and larger one covers are dropped. */
export function noteWanted(wanted: Wanted, replicas: number, seconds: number, nowMs: number): Wanted {
  const kept = wanted.filter((past) => past.replicas > replicas && past.at > nowMs - seconds * 1000);
  return [...kept, { at: nowMs, replicas }];
}

/** The largest size wanted within the window; zero when there is none. */
export function largestWanted(wanted: Wanted): number {
  return wanted[0]?.replicas ?? 0;
}

export function shrinksWithin(shrinks: Shrinks, seconds: number, nowMs: number): Shrinks {
  return shrinks.filter(({ at }) => at > nowMs - seconds * 1000);
}

/** How many more pods may go in this period. @param shrinks the shrinks of this period only. */
export function shrinkAllowance(
  { maxPercent }: PoolScaling['scaleDown'],
  shrinks: Shrinks,
  replicas: number,
): number {
  const gone = shrinks.reduce((sum, { pods }) => sum + pods, 0);
  const most = Math.max(1, Math.floor(((replicas + gone) * maxPercent) / 100));
  return Math.max(0, most - gone);
}
