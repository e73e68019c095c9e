import { z } from 'zod';
import { PERIODS } from '../../tenants/usage/periods.ts';

/** `period` of every report. */
export const periodParameter = z
  .enum(PERIODS)
  .default('7d')
  .describe('How far back, from the start of the hour.');
