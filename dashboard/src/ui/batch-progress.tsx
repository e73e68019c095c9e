import { number } from '../format.ts';

interface Progress {
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
}

/** How many documents of a batch have completed and failed, as parts of one bar; whoever does not see it is told. */
export function BatchProgress({ progress, wide = false }: { progress: Progress; wide?: boolean }) {
  const { total, completed, failed } = progress;
  return (
    <svg
      viewBox={`0 0 ${Math.max(1, total)} 1`}
      preserveAspectRatio="none"
      className={wide ? 'batch-progress wide' : 'batch-progress'}
      role="img"
      aria-label={`${number(completed)} completed and ${number(failed)} failed, of ${number(total)}`}
    >
      <rect className="ground" width={Math.max(1, total)} height="1" />
      <rect className="good" width={completed} height="1" />
      <rect className="bad" x={completed} width={failed} height="1" />
    </svg>
  );
}
