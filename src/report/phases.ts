/** The phases of a render, each of which is timed. */
export type RenderPhase = 'page' | 'load' | 'wait' | 'print' | 'finish';

/** What is known of a render besides its output, and kept as long as that. Milliseconds. */
export interface RenderReport {
  readonly phases: Readonly<Record<RenderPhase, number>>;
}
