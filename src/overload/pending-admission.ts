import { AdmissionTimer, type ObserveAdmission } from './admission-timer.ts';

/** A request for work that is being admitted: its time, and the permit by which it keeps others waiting. */
export interface PendingAdmission {
  readonly timer: AdmissionTimer;
  /** The request is about to wait for something outside, perhaps for long. Called again it changes nothing. */
  readonly releasePermit: () => void;
}

/** @param observe without it nothing is measured. */
export function pendingAdmission(
  observe?: ObserveAdmission,
  releasePermit: () => void = () => undefined,
): PendingAdmission {
  return { timer: new AdmissionTimer(observe), releasePermit };
}
