import type { PoolSample, PoolScaling } from './types.ts';

/**
 * β of the square-root rule (Halfin and Whitt): free slots grow with the square root of the demand, as its random
 * swings do. What other values cost and bring: docs/decisions/0070-sizing-defaults.md.
 */
export const HEADROOM_BETA = 0.5;

/** Free slots that a pool is to have beyond its demand. */
function headroom(
  { headroomSlots, headroomBeta = HEADROOM_BETA }: Pick<PoolScaling, 'headroomSlots' | 'headroomBeta'>,
  demand: number,
): number {
  return Math.max(headroomSlots, headroomBeta * Math.sqrt(demand));
}

/**
 * The size that the demand calls for, before every bound. Without demand a pool that may go to zero wants nothing:
 * headroom is for work that comes in addition to other work.
 */
export function wantedReplicas(
  settings: PoolScaling,
  { demand, inFlightOnLive }: Pick<PoolSample, 'demand' | 'inFlightOnLive'>,
): number {
  const slots = Math.max(0, demand, inFlightOnLive);
  if (slots === 0 && settings.minReplicas === 0) return 0;
  const perWorker = settings.slotsPerWorker * settings.targetUtilisation;
  return ceilOf((slots + headroom(settings, slots)) / perWorker);
}

/** 14 ÷ (4 × 0.7) is a hair above 5 in binary fractions, and means 5. */
function ceilOf(value: number): number {
  return Math.ceil(value - 1e-9);
}
