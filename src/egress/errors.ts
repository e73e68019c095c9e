/**
 * Why a target cannot be reached: `blocked` by the address policy; `unresolvable` because its name does not exist, or as
 * if it did not; `unreachable` for every fault that may pass (no answer, connection refused, name server down).
 */
export type EgressFault = 'blocked' | 'unresolvable' | 'unreachable';

/**
 * A connection that could not be made.
 *
 * `fault` and `message` may be shown to the customer. A name whose address is refused is told as one that does not exist,
 * so that no one can read a private name server through refusals. The rest is for the log.
 */
export class EgressError extends Error {
  readonly fault: EgressFault;
  readonly detail: string;
  /** Whether the address policy has refused it, whatever is told. */
  readonly refused: boolean;

  constructor(
    fault: EgressFault,
    message: string,
    detail: string,
    { cause, refused = fault === 'blocked' }: { readonly cause?: unknown; readonly refused?: boolean } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'EgressError';
    this.fault = fault;
    this.detail = detail;
    this.refused = refused;
  }
}
