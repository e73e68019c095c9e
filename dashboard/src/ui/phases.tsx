import { duration } from '../format.ts';

/** The phases of a render in their order. */
export const PHASES = ['page', 'load', 'wait', 'print', 'finish'] as const;

/** How long each phase took, in milliseconds. */
export type PhasesMs = Readonly<Record<(typeof PHASES)[number], number>>;

/** How long each phase took, as parts of one bar and in words. */
export function Phases({ phases }: { phases: PhasesMs }) {
  const all = PHASES.reduce((sum, phase) => sum + phases[phase], 0);
  let at = 0;
  return (
    <>
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" className="timeline" aria-hidden="true">
        {PHASES.map((phase) => {
          const width = all === 0 ? 0 : (phases[phase] / all) * 100;
          const x = at;
          at += width;
          return <rect key={phase} x={x} y="0" width={width} height="6" className={`phase-${phase}`} />;
        })}
      </svg>
      <ul className="phases">
        {PHASES.map((phase) => (
          <li key={phase} className={`phase-${phase}`}>
            {phase} {duration(phases[phase])}
          </li>
        ))}
      </ul>
    </>
  );
}
