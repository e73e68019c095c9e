import type { Villain } from './villain.ts';

/** An attack: a request, and its expected result. */
export interface Attack {
  readonly name: string;
  /** The body of the request. */
  readonly submission: (villain: Villain) => {
    readonly options: { readonly timeoutMs: number };
    readonly [field: string]: unknown;
  };
  /** `completed`, or the codes that it may fail with. */
  readonly ends: readonly string[];
  /** Whether an account that was registered a minute ago sends it as well. */
  readonly byFree?: boolean;
  /** What one of its scripts must have reported, besides that it began. */
  readonly reports?: RegExp;
  /** An error that its script may throw, when the browser has no more of a resource. */
  readonly mayThrow?: RegExp;
}
