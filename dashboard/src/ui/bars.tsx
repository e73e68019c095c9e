import { number } from '../format.ts';

export interface Bar {
  readonly at: string;
  readonly good: number;
  readonly bad: number;
}

const WIDTH = 600;
const HEIGHT = 120;

/** What succeeded and failed over time, as bars; the same numbers in a table for whoever cannot see them. */
export function Bars({
  title,
  bars,
  label,
}: {
  title: string;
  bars: readonly Bar[];
  label: (at: string) => string;
}) {
  const most = Math.max(1, ...bars.map(({ good, bad }) => good + bad));
  const step = WIDTH / Math.max(1, bars.length);
  const height = (value: number) => (value / most) * (HEIGHT - 4);
  return (
    <figure className="bars">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {bars.map(({ at, good, bad }, i) => (
          <g key={at}>
            <title>{`${label(at)}: ${number(good)} completed, ${number(bad)} failed`}</title>
            <rect x={i * step} y="0" width={step} height={HEIGHT} className="ground" />
            <rect
              x={i * step + step * 0.1}
              y={HEIGHT - height(good)}
              width={step * 0.8}
              height={height(good)}
              className="good"
            />
            <rect
              x={i * step + step * 0.1}
              y={HEIGHT - height(good + bad)}
              width={step * 0.8}
              height={height(bad)}
              className="bad"
            />
          </g>
        ))}
      </svg>
      <figcaption>
        {bars.length > 0 && (
          <>
            <span>{label(bars[0]!.at)}</span>
            <span>Peak: {number(Math.max(...bars.map(({ good, bad }) => good + bad)))}</span>
            <span>{label(bars.at(-1)!.at)}</span>
          </>
        )}
      </figcaption>
      {/* Around it, not on it: a table is never lower than its rows, and would make the page longer. */}
      <div className="unseen">
        <table>
          <caption>{title}</caption>
          <tbody>
            {bars
              .filter(({ good, bad }) => good + bad > 0)
              .map(({ at, good, bad }) => (
                <tr key={at}>
                  <th scope="row">{label(at)}</th>
                  <td>{good} completed</td>
                  <td>{bad} failed</td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
