import { cpus } from 'node:os';
import { cpuSeconds, descendants } from '../support/processes.ts';

/** By name a process, several of them, or all that one or several have started. */
export type Watched = Readonly<
  Record<
    string,
    | { readonly pid: number }
    | { readonly pids: readonly number[] }
    | { readonly below: number | readonly number[] }
  >
>;

export interface CpuUsed {
  /** Of all that was watched, in seconds. */
  readonly seconds: number;
  /** In percent of one core, and what all processes of the machine used: `node 71 %, database 20 %; all 180 % of 2 cores`. */
  readonly text: string;
}

/** Watches what limits a measurement. */
export function watchCpu(watched: Watched): { stop(): CpuUsed } {
  const names = Object.keys(watched);
  const read = () => names.map((name) => secondsOf(watched[name]!));
  const [before, busyBefore, began] = [read(), busySeconds(), performance.now()];
  return {
    stop() {
      const percent = (seconds: number) => Math.round((seconds / (performance.now() - began)) * 100_000);
      const used = read().map((seconds, i) => seconds - before[i]!);
      const texts = names.map((name, i) => `${name} ${percent(used[i]!)} %`);
      const all = percent(busySeconds() - busyBefore);
      return {
        seconds: used.reduce((sum, seconds) => sum + seconds, 0),
        text: `${texts.join(', ')}; all ${all} % of ${cpus().length} cores`,
      };
    },
  };
}

function secondsOf(one: Watched[string]): number {
  return processesOf(one).reduce((sum, pid) => sum + cpuSeconds(pid), 0);
}

function processesOf(one: Watched[string]): readonly number[] {
  if ('pid' in one) return [one.pid];
  if ('pids' in one) return one.pids;
  return [one.below].flat().flatMap((pid) => descendants(pid).map((child) => child.pid));
}

function busySeconds(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0) / 1000;
}
