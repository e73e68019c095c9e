/** The phases of a render in their order, each of which is timed. */
export const RENDER_PHASES = ['page', 'load', 'wait', 'print', 'finish'] as const;
export type RenderPhase = (typeof RENDER_PHASES)[number];

/** What is known of a render besides its output, and kept as long as that. Milliseconds. */
export interface RenderReport {
  readonly phases: Readonly<Record<RenderPhase, number>>;
}
