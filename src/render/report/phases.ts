/** The phases of a render in their order, each of which is timed. */
export const RENDER_PHASES = ['page', 'load', 'wait', 'print', 'finish'] as const;
export type RenderPhase = (typeof RENDER_PHASES)[number];

/** Facts about a render that are kept as long as its output. Milliseconds. */
export interface RenderReport {
  readonly phases: Readonly<Record<RenderPhase, number>>;
}
