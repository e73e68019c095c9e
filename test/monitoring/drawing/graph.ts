import type { Panel } from '../support/dashboards.ts';
import type { Series } from '../support/prometheus.ts';
import { type Box, colourOf, horizontal, polygon, polyline, shortened, text } from './svg.ts';
import { shown, ticks } from './units.ts';

/** Epoch seconds. */
export interface Period {
  readonly since: number;
  readonly until: number;
}

export interface Line extends Series {
  readonly name: string;
}

const AXIS = 62;
const LEGEND_LINE = 16;
const LEGEND_LINES = 5;

/** Lines over time, with a legend that has the last and the largest value of each. */
export function drawGraph(panel: Panel, lines: readonly Line[], period: Period, box: Box): string[] {
  const { unit, max, custom } = panel.fieldConfig!.defaults;
  const stacked = custom?.stacking.mode === 'normal';
  const drawn = stacked ? stack(lines) : lines.map((line) => ({ line, floor: undefined, top: line.points }));
  const listed = Math.min(lines.length, LEGEND_LINES);
  const plot = {
    left: box.left + AXIS,
    top: box.top + 6,
    width: box.width - AXIS - 12,
    height: box.height - 30 - (listed + (lines.length > listed ? 1 : 0)) * LEGEND_LINE,
  };
  const highest = Math.max(0, ...drawn.flatMap(({ top }) => top.map(([, value]) => value)));
  const marks = ticks(max ?? highest);
  const scale = marks.at(-1)!;
  const x = (at: number) => plot.left + (plot.width * (at - period.since)) / (period.until - period.since);
  const y = (value: number) => plot.top + plot.height * (1 - value / scale);
  const toPlot = (points: readonly (readonly [number, number])[]) =>
    points.map(([at, value]) => [x(at), y(value)] as const);
  return [
    ...marks.flatMap((mark) => [
      horizontal(plot.left, plot.left + plot.width, y(mark), '#e4e4e4'),
      text(plot.left - 6, y(mark) + 4, shown(mark, unit), { anchor: 'end', size: 10, colour: '#666666' }),
    ]),
    ...timeMarks(period, x, plot.top + plot.height + 14),
    ...drawn.flatMap(({ top, floor }, i) => [
      ...(floor === undefined ? [] : [polygon([...toPlot(top), ...toPlot(floor).reverse()], colourOf(i))]),
      ...pieces(top).map((piece) => polyline(toPlot(piece), colourOf(i))),
    ]),
    ...legend(lines, unit, { ...box, top: plot.top + plot.height + 24 }),
  ];
}

interface Drawn {
  readonly line: Line;
  readonly floor: Series['points'] | undefined;
  readonly top: Series['points'];
}

/** Each line on top of those before it; where a line has no point it adds nothing. */
function stack(lines: readonly Line[]): Drawn[] {
  const times = [...new Set(lines.flatMap(({ points }) => points.map(([at]) => at)))].sort((a, b) => a - b);
  let below = new Map(times.map((at) => [at, 0]));
  return lines.map((line) => {
    const own = new Map(line.points);
    const above = new Map(times.map((at) => [at, below.get(at)! + (own.get(at) ?? 0)]));
    const drawn = { line, floor: [...below], top: [...above] };
    below = above;
    return drawn;
  });
}

/** A line is broken where it has no points for three steps. */
function pieces(points: Series['points']): Series['points'][] {
  const step = Math.min(...points.slice(1).map(([at], i) => at - points[i]![0]));
  const broken: (readonly [number, number])[][] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (const point of points) {
    if (point[0] - last > 3 * step) broken.push([]);
    broken.at(-1)!.push(point);
    last = point[0];
  }
  return broken;
}

function timeMarks({ since, until }: Period, x: (at: number) => number, baseline: number): string[] {
  const every = Math.max(10, Math.ceil((until - since) / 6 / 10) * 10);
  return Array.from({ length: Math.floor((until - since) / every) + 1 }, (_, i) => {
    const after = i * every;
    const words = `${Math.floor(after / 60)}:${String(after % 60).padStart(2, '0')}`;
    return text(x(since + after), baseline, words, { anchor: 'middle', size: 10, colour: '#666666' });
  });
}

function legend(lines: readonly Line[], unit: string, { left, top, width }: Box): string[] {
  const listed = lines.slice(0, LEGEND_LINES);
  const rows = listed.flatMap(({ name, points }, i) => {
    const baseline = top + (i + 1) * LEGEND_LINE - 4;
    const values = points.map(([, value]) => value);
    const figures = `${shown(values.at(-1)!, unit)}, at most ${shown(Math.max(...values), unit)}`;
    return [
      `<rect x="${left + 10}" y="${Math.round(baseline) - 6}" width="14" height="3" fill="${colourOf(i)}"/>`,
      text(left + 30, baseline, shortened(name, width - 190, 11), { size: 11 }),
      text(left + width - 10, baseline, figures, { anchor: 'end', size: 11 }),
    ];
  });
  const more = lines.length - listed.length;
  return more === 0
    ? rows
    : [
        ...rows,
        text(left + 30, top + (LEGEND_LINES + 1) * LEGEND_LINE - 4, `and ${more} more`, {
          size: 11,
          colour: '#666666',
        }),
      ];
}
