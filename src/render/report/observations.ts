import type { ObservationRule } from './observation-rules.ts';

/** One thing that was found. */
export interface Observation {
  readonly rule: ObservationRule;
  /** A sentence that says what, and what to do about it. */
  readonly message: string;
  /** A CSS selector of the element; null where there is none. */
  readonly selector: string | null;
  /** Page number, from 1 on; null where it is not known. */
  readonly page: number | null;
}

/** The most observations of a report, and of one rule among them. */
export const MAX_OBSERVATIONS = 60;
export const MAX_OF_RULE = 5;
