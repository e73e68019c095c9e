import type { Outcome, TraceOutcome } from './simulate.ts';
import { named, type Target } from './targets.ts';

export type Row = readonly string[];

export const OUTCOME_HEAD: Row = [
  'Scaler',
  'Wait p50 (s)',
  'Wait p95 (s)',
  'For a worker p95 (s)',
  'For a worker p99 (s)',
  'Pod-hours',
  '× oracle',
  'Scale actions',
  'Not started',
];

export function outcomeRows({ outcomes }: TraceOutcome): Row[] {
  const oracle = named(outcomes, 'Oracle');
  return outcomes.map((its) => [
    its.scaler,
    seconds(its.wait.p50),
    seconds(its.wait.p95),
    seconds(its.workerWait.p95),
    seconds(its.workerWait.p99),
    its.podHours.toFixed(1),
    (its.podHours / oracle.podHours).toFixed(2),
    String(its.scaleActions),
    String(its.unstarted),
  ]);
}

export const TARGET_HEAD: Row = ['Trace', 'Target', 'Met', 'Figures'];

export function targetRows(targets: readonly Target[]): Row[] {
  return targets.map(({ trace, asks, met, figures }) => [trace, asks, met ? 'yes' : '**no**', figures]);
}

/** p95 of the wait, p99 of the wait for a worker, pod-hours by the oracle's, and scale actions. */
export function variantCell(its: Outcome, oracle: Outcome): string {
  const podHours = (its.podHours / oracle.podHours).toFixed(2);
  return `${seconds(its.wait.p95)} / ${seconds(its.workerWait.p99)} / ${podHours} / ${its.scaleActions}`;
}

/** A table for a terminal: the first column to the left, the others to the right. */
export function plainTable(head: Row, rows: readonly Row[]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]!.length)));
  const line = (row: Row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join('  ');
  return [head, ...rows].map(line).join('\n');
}

/** A Markdown table as the formatter leaves it. */
export function markdownTable(head: Row, rows: readonly Row[]): string {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((row) => row[column]!.length)));
  const line = (row: Row) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(2);
}
