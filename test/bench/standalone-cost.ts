import { renderOf } from './callers.ts';
import { watchCpu } from './cpu.ts';
import { DOCUMENTS } from './documents.ts';
import { runLoad } from './load.ts';
import type { StandaloneBench } from './on-database.ts';

export interface Measured {
  readonly perSecond: number;
  /** Processor time of Platen's own process for one render, in milliseconds. */
  readonly cpuMs: number;
}

/** Renders invoices by a standalone for a time. */
export async function measureStandalone(
  { pool, keys, subject }: StandaloneBench,
  callers: number,
  durationMs: number,
): Promise<Measured> {
  const render = renderOf(pool, DOCUMENTS[0]!.html);
  const cpu = watchCpu({ service: { pids: subject.pids } });
  const { perSecond, count } = await runLoad(callers, durationMs, () => render(keys[0]!));
  return { perSecond, cpuMs: (cpu.stop().seconds * 1000) / count };
}
