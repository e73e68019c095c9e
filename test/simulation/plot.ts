import type { Outcome, TraceOutcome } from './simulate.ts';

interface Panel {
  readonly top: number;
  readonly height: number;
}

const WIDTH = 960;
const HEIGHT = 580;
const LEFT = 64;
const RIGHT = 16;
const PODS: Panel = { top: 84, height: 260 };
const WAITS: Panel = { top: 392, height: 136 };
/** The axis of waits is logarithmic, from a tenth of a second to a thousand. */
const WAIT_DECADES = [0.1, 1, 10, 100, 1000];

/** Who is drawn, and how; colours that are told apart without red and green. */
const LINES: readonly { readonly scaler: string; readonly colour: string; readonly width: number }[] = [
  { scaler: 'KEDA on lag, tuned', colour: '#d55e00', width: 1.2 },
  { scaler: 'KEDA on demand', colour: '#e69f00', width: 1.2 },
  { scaler: 'HPA on CPU', colour: '#999999', width: 1.2 },
  { scaler: 'Knative KPA', colour: '#cc79a7', width: 1.2 },
  { scaler: 'Oracle', colour: '#000000', width: 1 },
  { scaler: 'Platen', colour: '#0072b2', width: 2.2 },
];

/** Pods against demand above, p95 of the wait for a worker below, over the time of the trace. */
export function plot(outcome: TraceOutcome, slotsPerWorker: number): string {
  const { trace, demand, outcomes } = outcome;
  const drawn = LINES.flatMap((line) => {
    const its = outcomes.find(({ scaler }) => scaler === line.scaler);
    return its === undefined ? [] : [{ ...line, its }];
  });
  const wanted = demand.map((slots) => slots / slotsPerWorker);
  const most = niceCeiling(Math.max(...wanted, ...drawn.flatMap(({ its }) => its.pods)));
  const podsY = (pods: number) => PODS.top + PODS.height * (1 - pods / most);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<title>${trace.name}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    text(LEFT, 22, trace.name, 'start', 16),
    legend(drawn),
    text(
      LEFT,
      PODS.top - 8,
      'pods, whatever their state; shaded: slots in use with workers enough, in pods',
      'start',
    ),
    ...[0, 0.25, 0.5, 0.75, 1].map((share) => gridLine(podsY(share * most), label(share * most))),
    area(wanted, podsY),
    ...drawn.map(({ its, colour, width }) => line(its.pods.map(podsY), colour, width)),
    text(LEFT, WAITS.top - 8, 'p95 of the wait for a worker, in seconds', 'start'),
    ...WAIT_DECADES.map((seconds) => gridLine(waitY(seconds), String(seconds))),
    ...drawn.map(({ its, colour, width }) => line(waitsOf(its).map(waitY), colour, width)),
    ...timeAxis(trace.durationMs),
    '</svg>\n',
  ].join('\n');
}

function waitsOf({ waits }: Outcome): number[] {
  return waits.map((ms) => ms / 1000);
}

function waitY(seconds: number): number {
  const decades = Math.log10(Math.min(1000, Math.max(0.1, seconds)) / 0.1);
  return WAITS.top + WAITS.height * (1 - decades / (WAIT_DECADES.length - 1));
}

function x(index: number, count: number): number {
  return LEFT + ((WIDTH - LEFT - RIGHT) * index) / count;
}

function line(ys: readonly number[], colour: string, width: number): string {
  const points = ys.map((y, index) => `${x(index + 1, ys.length).toFixed(1)},${y.toFixed(1)}`).join(' ');
  return `<polyline points="${points}" fill="none" stroke="${colour}" stroke-width="${width}"/>`;
}

function area(values: readonly number[], y: (value: number) => number): string {
  const points = values.map(
    (value, index) => `${x(index + 1, values.length).toFixed(1)},${y(value).toFixed(1)}`,
  );
  const [from, to] = [x(1, values.length).toFixed(1), x(values.length, values.length).toFixed(1)];
  const base = y(0).toFixed(1);
  return `<polygon points="${from},${base} ${points.join(' ')} ${to},${base}" fill="#56b4e9" fill-opacity="0.3"/>`;
}

function gridLine(y: number, name: string): string {
  const at = y.toFixed(1);
  return `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at}" y2="${at}" stroke="#dddddd"/>${text(LEFT - 6, y + 4, name, 'end')}`;
}

function timeAxis(durationMs: number): string[] {
  const hours = durationMs > 6 * 3_600_000;
  const total = durationMs / (hours ? 3_600_000 : 60_000);
  const step = [1, 2, 3, 5, 10, 15, 20, 30].find((candidate) => total / candidate <= 10) ?? 60;
  const marks = Array.from({ length: Math.floor(total / step) + 1 }, (_, index) => index * step);
  return [
    ...marks.map((mark) => text(x(mark, total), WAITS.top + WAITS.height + 18, String(mark), 'middle')),
    text(WIDTH - RIGHT, HEIGHT - 12, hours ? 'hours' : 'minutes', 'end'),
  ];
}

function legend(lines: readonly { readonly scaler: string; readonly colour: string }[]): string {
  return lines
    .map(({ scaler, colour }, index) => {
      const left = LEFT + index * 146;
      return `<line x1="${left}" x2="${left + 18}" y1="42" y2="42" stroke="${colour}" stroke-width="3"/>${text(left + 22, 46, scaler, 'start', 11)}`;
    })
    .join('\n');
}

function text(left: number, baseline: number, content: string, anchor: string, size = 12): string {
  return `<text x="${left.toFixed(1)}" y="${baseline.toFixed(1)}" text-anchor="${anchor}" font-size="${size}" fill="#333333">${content}</text>`;
}

function niceCeiling(value: number): number {
  const magnitude = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return (
    [1, 2, 4, 6, 8, 10].map((factor) => factor * magnitude).find((candidate) => candidate >= value) ?? value
  );
}

function label(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}
