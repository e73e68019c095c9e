/** A step of the finisher: the name of a module in the folder `steps`, and its argument. */
export interface FinishStep {
  readonly step: string;
  readonly argument: unknown;
}
