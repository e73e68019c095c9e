import { Link, useLocation } from 'wouter';
import { counted, duration } from '../format.ts';
import { percentile } from '../percentile.ts';

interface Point {
  /** When the hour or day began. */
  readonly at: string;
  /** How many renders are in each bin. */
  readonly durations: readonly number[];
}

interface Spot {
  readonly at: string;
  readonly count: number;
  readonly median: number;
  readonly slow: number;
}

const WIDTH = 600;
const HEIGHT = 120;
const LENGTH_MS = { hour: 3_600_000, day: 86_400_000 } as const;
/** Hours or days that are named below the lines. */
const MOST_NAMED = 3;

/**
 * How long renders took over time: the median and the 95th percentile of each hour or day. A press on one leads to its
 * renders, the slowest first; the slowest hours are links below as well.
 */
export function Latency({
  points,
  bounds,
  interval,
  label,
}: {
  points: readonly Point[];
  bounds: readonly number[];
  interval: 'hour' | 'day';
  label: (at: string) => string;
}) {
  const [, navigate] = useLocation();
  const spots = points.map(({ at, durations }) => spotOf(at, durations, bounds));
  const known = spots.filter((spot) => spot !== undefined);
  if (known.length === 0) return null;
  const most = Math.max(...known.map(({ slow }) => slow));
  const step = WIDTH / spots.length;
  const y = (ms: number) => HEIGHT - 2 - (ms / most) * (HEIGHT - 6);
  const named = known.toSorted((a, b) => b.slow - a.slow).slice(0, MOST_NAMED);
  return (
    <figure className="bars latency">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {spots.map(
          (spot, i) =>
            spot !== undefined && (
              // biome-ignore lint/a11y/noStaticElementInteractions: for the pointer; the slowest are links below
              <g key={spot.at} onClick={() => navigate(rendersOf(spot.at, interval))}>
                <title>{`${label(spot.at)}: median ${duration(spot.median)}, 95th percentile ${duration(spot.slow)}, ${counted(spot.count, 'render')}`}</title>
                <rect x={i * step} y="0" width={step} height={HEIGHT} className="ground" />
                <line
                  x1={(i + 0.5) * step}
                  x2={(i + 0.5) * step}
                  y1={y(spot.median)}
                  y2={y(spot.slow)}
                  className="span"
                />
                <Mark x={i * step} width={step} y={y(spot.slow)} kind="slow" />
                <Mark x={i * step} width={step} y={y(spot.median)} kind="median" />
              </g>
            ),
        )}
      </svg>
      <figcaption>
        <span>{label(spots[0]?.at ?? points[0]!.at)}</span>
        <span className="legend">
          <span className="median">Median</span> <span className="slow">95th percentile</span> Top:{' '}
          {duration(most)}
        </span>
        <span>{label(points.at(-1)!.at)}</span>
      </figcaption>
      <p>
        Slowest {interval === 'hour' ? 'hours' : 'days'}, by the 95th percentile:{' '}
        {named.map((spot, i) => (
          <span key={spot.at}>
            {i > 0 && ' · '}
            <Link href={rendersOf(spot.at, interval)}>
              {label(spot.at)}, {duration(spot.slow)}
            </Link>
          </span>
        ))}
      </p>
    </figure>
  );
}

function Mark({ x, y, width, kind }: { x: number; y: number; width: number; kind: 'median' | 'slow' }) {
  return <rect x={x + width * 0.15} y={y - 1.5} width={width * 0.7} height="3" className={kind} />;
}

function spotOf(at: string, durations: readonly number[], bounds: readonly number[]): Spot | undefined {
  const median = percentile(bounds, durations, 0.5);
  const slow = percentile(bounds, durations, 0.95);
  if (median === undefined || slow === undefined) return undefined;
  return { at, count: durations.reduce((sum, count) => sum + count, 0), median: median.ms, slow: slow.ms };
}

/** The renders of that hour or day, the slowest first. */
export function rendersOf(at: string, interval: 'hour' | 'day'): string {
  const to = new Date(Date.parse(at) + LENGTH_MS[interval]).toISOString();
  return `/renders?${new URLSearchParams({ from: at, to, sort: 'duration_desc' })}`;
}
