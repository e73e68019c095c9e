import { laneOf } from '../jobs/lanes.ts';

/** The lane that items wait in: behind everything that a caller of their account waits for. */
export const BATCH_LANE = laneOf('bulk', false);
