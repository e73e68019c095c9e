/**
 * Why a target cannot be reached: `blocked` by the address policy; `unresolvable` because its name does not exist;
 * `unreachable` for every fault that may pass (no answer, connection refused, name server down).
 */
export type EgressFault = 'blocked' | 'unresolvable' | 'unreachable';

/**
 * A connection that could not be made.
 *
 * `message` may be shown to the customer: it never tells which address a name has, so that no one can read a private
 * name server through refusals. `detail` is for the log.
 */
export class EgressError extends Error {
  readonly fault: EgressFault;
  readonly detail: string;

  constructor(fault: EgressFault, message: string, detail: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'EgressError';
    this.fault = fault;
    this.detail = detail;
  }
}
