import type { PoolScaling } from '../../src/kubernetes/scaling/types.ts';
import { POOL } from './pool.ts';
import { Platen } from './scalers/platen.ts';

const window = (stabilisationSeconds: number) => ({ ...POOL.scaleDown, stabilisationSeconds });

/** What the autoscaler is tried with beside its defaults, one setting at a time. */
const CHANGES: Readonly<Record<string, Partial<PoolScaling>>> = {
  'the defaults': {},
  'β 0': { headroomBeta: 0 },
  'β 1': { headroomBeta: 1 },
  'β 1.5': { headroomBeta: 1.5 },
  'β 0, utilisation 80 %': { headroomBeta: 0, targetUtilisation: 0.8 },
  'utilisation 80 %': { targetUtilisation: 0.8 },
  'headroom 8 slots': { headroomSlots: 8 },
  'window 60 s': { scaleDown: window(60) },
  'β 0, window 60 s': { headroomBeta: 0, scaleDown: window(60) },
  'β 1, window 60 s': { headroomBeta: 1, scaleDown: window(60) },
  'window 300 s': { scaleDown: window(300) },
  '10 % in 30 s': { scaleDown: { ...POOL.scaleDown, maxPercent: 10 } },
  '10 pods on their way': { maxPendingPods: 10 },
  '100 pods on their way': { maxPendingPods: 100 },
};

export function variants(): { name: string; scaler: Platen }[] {
  return Object.entries(CHANGES).map(([name, change]) => ({
    name,
    scaler: new Platen({ ...POOL, ...change }, name),
  }));
}
