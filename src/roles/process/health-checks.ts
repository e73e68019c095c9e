import type { Readiness } from '../../http/api-deps.ts';

/** The checks behind the operations routes. */
export interface HealthChecks {
  readonly readiness: () => Promise<Readiness>;
  readonly liveness: () => { live: boolean; problem?: string };
  readonly browserVersion?: () => string | undefined;
}

/** The health of a process that has not reached its database yet: it may wait for a migration. */
const STARTING: HealthChecks = {
  readiness: async () => ({ ready: false, problems: ['the process is starting'] }),
  liveness: () => ({ live: true }),
};

/** The health of a process that answers for itself before there is anything to check. */
export function healthFromStart(): HealthChecks & { startedAs(checks: HealthChecks): void } {
  let present = STARTING;
  return {
    readiness: () => present.readiness(),
    liveness: () => present.liveness(),
    browserVersion: () => present.browserVersion?.(),
    startedAs(checks) {
      present = checks;
    },
  };
}

/** Whether a process works, starts or stops. */
export type LifePhase = 'starting' | 'running' | 'stopping';
