import type { Villain } from './villain.ts';

/** An attack: what is sent, and what its sender is to get. */
export interface Attack {
  readonly name: string;
  /** The body of the order. */
  readonly order: (villain: Villain) => {
    readonly options: { readonly timeoutMs: number };
    readonly [field: string]: unknown;
  };
  /** `completed`, or the codes that it may fail with. */
  readonly ends: readonly string[];
  /** Whether an account that has registered a minute ago sends it as well. */
  readonly byFree?: boolean;
  /** What one of its scripts has to have told, besides that it began. */
  readonly tells?: RegExp;
  /** What its script may throw: an error of the browser's, when there is no more of what it takes. */
  readonly mayThrow?: RegExp;
}
