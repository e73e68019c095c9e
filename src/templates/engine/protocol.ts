/** What the engine and its template processes say to each other. Data crosses as JSON: nothing else can come in. */

export interface RenderCall {
  readonly kind: 'render';
  readonly source: string;
  /** A JSON object. */
  readonly data: string;
  /** Milliseconds after which the template is stopped at its next tag. */
  readonly softTimeoutMs: number;
  readonly maxOutputBytes: number;
}

export interface CheckCall {
  readonly kind: 'check';
  readonly source: string;
}

export type Call = RenderCall | CheckCall;

/** `output` is the rendered text, empty for a check; a fault is one of the template, told to its author. */
export type Reply = { readonly output: string } | { readonly fault: string };

/** Sent once, when the process can take its first call. */
export const READY = 'ready';
