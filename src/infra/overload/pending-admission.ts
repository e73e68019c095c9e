import type { TraceContext } from '../tracing/trace-context.ts';
import { AdmissionTimer, type ObserveAdmission } from './admission-timer.ts';

/** A request for work that is being admitted: its time, and the permit by which it keeps others waiting. */
export interface PendingAdmission {
  readonly timer: AdmissionTimer;
  /** The request is about to wait for something outside, perhaps for long. Called again it changes nothing. */
  readonly releasePermit: () => void;
  /** The trace that the work belongs to; undefined when nothing is traced. */
  readonly trace?: TraceContext | undefined;
}

/** @param observe without it nothing is measured. */
export function pendingAdmission(
  observe?: ObserveAdmission,
  releasePermit: () => void = () => undefined,
  trace?: TraceContext,
): PendingAdmission {
  return { timer: new AdmissionTimer(observe), releasePermit, trace };
}
