import type { Dashboard, Panel } from '../support/dashboards.ts';
import type { Series } from '../support/prometheus.ts';
import { drawGraph, type Line, type Period } from './graph.ts';
import { type Box, polyline, rectangle, shortened, text } from './svg.ts';
import { shown } from './units.ts';

/** Pixels of one of the 24 columns, and of one row. */
const COLUMN = 62;
const ROW = 34;
const GAP = 6;
const HEAD = 48;
const TITLE = 26;
const COLOURS: Readonly<Record<string, string>> = { green: '#00875a', yellow: '#b58900', red: '#c4302b' };

type Ask = (expression: string) => Promise<readonly Series[]>;

/** A dashboard as one picture, each panel where Grafana has it. */
export async function drawDashboard({ title, panels }: Dashboard, period: Period, ask: Ask): Promise<string> {
  const width = 24 * COLUMN + GAP;
  const height = HEAD + Math.max(...panels.map(({ gridPos }) => gridPos.y + gridPos.h)) * ROW + GAP;
  const drawn: string[] = [];
  for (const panel of panels) drawn.push(...(await drawPanel(panel, period, ask)));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<title>${title}</title>`,
    rectangle({ left: 0, top: 0, width, height }, '#f4f5f5'),
    text(GAP + 4, 31, title, { size: 20, bold: true }),
    ...drawn,
    '</svg>\n',
  ].join('\n');
}

async function drawPanel(panel: Panel, period: Period, ask: Ask): Promise<string[]> {
  const { x, y, w, h } = panel.gridPos;
  const box: Box = {
    left: x * COLUMN + GAP,
    top: HEAD + y * ROW,
    width: w * COLUMN - GAP,
    height: h * ROW - GAP,
  };
  if (panel.type === 'row') return [text(box.left + 4, box.top + 20, panel.title, { size: 15, bold: true })];
  const lines: Line[] = [];
  for (const { expr, legendFormat } of panel.targets ?? []) {
    for (const series of await ask(expr)) lines.push({ ...series, name: legendOf(series, legendFormat) });
  }
  const inner = { ...box, top: box.top + TITLE, height: box.height - TITLE };
  return [
    rectangle(box, '#ffffff', '#dcdcdc'),
    text(box.left + 10, box.top + 18, shortened(panel.title, box.width - 20, 13), { size: 13, bold: true }),
    ...(lines.length === 0
      ? [text(box.left + box.width / 2, box.top + box.height / 2, 'No data', { anchor: 'middle', size: 14 })]
      : panel.type === 'stat'
        ? drawStat(panel, lines[0]!, period, inner)
        : drawGraph(panel, lines, period, inner)),
  ];
}

/** The last value, in the colour of its threshold, over its course. */
function drawStat(panel: Panel, { points }: Line, { since, until }: Period, box: Box): string[] {
  const { unit, thresholds, mappings = [] } = panel.fieldConfig!.defaults;
  const last = points.at(-1)![1];
  const step = thresholds?.steps.findLast(({ value }) => value === null || last >= value);
  const colour = COLOURS[step?.color ?? 'green'] ?? '#333333';
  const mapped = mappings.map(({ options }) => options[String(last)]?.text).find(Boolean);
  const most = Math.max(...points.map(([, value]) => value), 1e-9);
  const floor = box.top + box.height - 4;
  const course = points.map(
    ([at, value]) =>
      [
        box.left + 8 + ((box.width - 16) * (at - since)) / (until - since),
        floor - (value / most) * box.height * 0.35,
      ] as const,
  );
  return [
    polyline(course, `${colour}66`),
    text(box.left + box.width / 2, box.top + box.height * 0.55, mapped ?? shown(last, unit), {
      anchor: 'middle',
      size: 30,
      colour,
      bold: true,
    }),
  ];
}

function legendOf({ labels }: Series, format: string): string {
  return format.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => labels[label] ?? '').trim();
}
