/** Calls of the engine to its template processes. Data is passed as JSON: nothing else can come in. */

export interface RenderCall {
  readonly kind: 'render';
  readonly source: string;
  /** A JSON object. */
  readonly data: string;
  /** Milliseconds after which the template is stopped at its next tag. */
  readonly softTimeoutMs: number;
  readonly maxOutputBytes: number;
}

interface CheckCall {
  readonly kind: 'check';
  readonly source: string;
}

export type Call = RenderCall | CheckCall;
