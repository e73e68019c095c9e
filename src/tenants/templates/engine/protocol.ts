/** Calls of the engine to its template processes. Data is passed as JSON: nothing else can come in. */

export interface RenderCall {
  readonly kind: 'render';
  readonly source: string;
  readonly data: string;
  /** Milliseconds after which the template is stopped at its next tag. */
  readonly softTimeoutMs: number;
  readonly maxOutputBytes: number;
  /** Language tag of the document. */
  readonly locale?: string | undefined;
  /** Time zone of the document. */
  readonly timezone?: string | undefined;
  /** Whether a name that the data do not have is an error. */
  readonly strictData?: boolean | undefined;
  readonly wantsWarnings?: boolean | undefined;
}

/** The reply to a RenderCall. */
export interface Rendered {
  readonly html: string;
  readonly warnings: readonly string[];
}

interface CheckCall {
  readonly kind: 'check';
  readonly source: string;
}

/** A schema of data by itself, or with data to compare with it. */
interface SchemaCall {
  readonly kind: 'schema';
  readonly schema: string;
  /** JSON. */
  readonly data?: string | undefined;
}

export type Call = RenderCall | CheckCall | SchemaCall;
