import { readFileSync } from 'node:fs';
import {
  type Histogram,
  observations,
  quantile,
  readHistogram,
  since,
  together,
} from '../support/histogram.ts';
import { descendants } from '../support/processes.ts';

type Kind = 'warm' | 'cold';

const METRIC = 'platen_browser_context_render_seconds';

/** What a worker's metrics say of renders in contexts that their account had used before, and in others. */
export class ContextFigures {
  readonly #renders: Readonly<Record<Kind, Histogram>>;

  constructor(renders: Readonly<Record<Kind, Histogram>>) {
    this.#renders = renders;
  }

  since(before: ContextFigures): ContextFigures {
    const change = (kind: Kind) => since(before.#renders[kind], this.#renders[kind]);
    return new ContextFigures({ warm: change('warm'), cold: change('cold') });
  }

  /** Of all renders, those that met a warm context. */
  get warmShare(): number {
    const [warm, cold] = [observations(this.#renders.warm), observations(this.#renders.cold)];
    return warm / (warm + cold);
  }

  /** A quantile of the time from the worker's claim to the PDF, in milliseconds; NaN without such renders. */
  milliseconds(kind: Kind, share: number): number {
    return quantile(this.#renders[kind], share) * 1000;
  }
}

/** @param urls of workers, which are taken together. */
export async function readContexts(urls: readonly string[]): Promise<ContextFigures> {
  const texts = await Promise.all(urls.map(async (url) => (await fetch(`${url}/metrics`)).text()));
  const read = (kind: Kind) => together(texts.map((text) => readHistogram(text, METRIC, { kind })));
  return new ContextFigures({ warm: read('warm'), cold: read('cold') });
}

/** Proportional memory (PSS) of the renderer processes below `roots`: the mean in bytes, and how many there are. */
export function rendererMemory(roots: readonly number[]): { readonly each: number; readonly count: number } {
  const renderers = roots
    .flatMap((root) => descendants(root).map(({ pid }) => pid))
    .filter((pid) => commandLine(pid).includes('--type=renderer'));
  const total = renderers.reduce((sum, pid) => sum + ownMemory(pid), 0);
  return { each: total / renderers.length, count: renderers.length };
}

function ownMemory(pid: number): number {
  try {
    const pss = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
    return Number(pss?.[1] ?? 0) * 1024;
  } catch {
    // It has just ended.
    return 0;
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}
