import { setTimeout as sleep } from 'node:timers/promises';
import { manyRenders } from '../support/many-renders.ts';
import { stopMongo } from '../support/mongo.ts';
import { descendants } from '../support/processes.ts';
import { openStandaloneService } from '../support/service.ts';
import { treeMemory } from '../support/tree-memory.ts';

/*
 * Of `make soak`: what renders leave behind in a standalone and everything that it has started, one in twenty of them
 * cancelled or timed out. SOAK_RENDERS (default 1000).
 */
const RENDERS = Number(process.env.SOAK_RENDERS ?? 1000);
const SAMPLES = 10;
/** A render leaves less than this, in MiB, and less than one process in 400. */
const WANTED = { memory: 0.1, processes: 1 / 400 };

interface Sample {
  readonly renders: number;
  readonly memory: number;
  readonly processes: number;
}

/** How much it grows with each render: the slope of the straight line with the least squares. One page ahead more or less, in one sample, hardly shows in it. */
function slope(samples: readonly Sample[], of: 'memory' | 'processes'): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const x0 = mean(samples.map(({ renders }) => renders));
  const y0 = mean(samples.map((sample) => sample[of]));
  return (
    mean(samples.map((sample) => (sample.renders - x0) * (sample[of] - y0))) /
    mean(samples.map(({ renders }) => (renders - x0) ** 2))
  );
}

/** The slope of all samples, and the least and the greatest of those without one of them. */
function spread(samples: readonly Sample[], of: 'memory' | 'processes'): string {
  const without = samples.map((_, i) => slope(samples.toSpliced(i, 1), of));
  const [all, least, most] = [slope(samples, of), Math.min(...without), Math.max(...without)];
  const verdict = all < WANTED[of] ? '' : ': missed';
  return `${all.toFixed(4)} (${least.toFixed(4)}–${most.toFixed(4)}) a render, wanted < ${WANTED[of]}${verdict}`;
}

// Garbage is collected early, so that what is left over shows.
const service = await openStandaloneService({
  NODE_OPTIONS: '--max-semi-space-size=2 --max-old-space-size=128',
});
const samples: Sample[] = [];
try {
  const { client } = await service.newTenant('professional');
  const { pid } = service.roles.get('standalone')!;
  const renderUpTo = manyRenders(client);
  for (let sample = 1; sample <= SAMPLES; sample += 1) {
    const renders = (RENDERS / SAMPLES) * sample;
    await renderUpTo(renders);
    await sleep(2000);
    const one = { renders, processes: descendants(pid).length, memory: treeMemory([pid]) / 1024 / 1024 };
    samples.push(one);
    console.log(`${renders} renders: ${one.memory.toFixed(0)} MiB in ${one.processes} processes`);
  }
} finally {
  await service.stop();
  await stopMongo();
}
// The first tenth fills caches and pools, and is not compared.
const compared = samples.slice(1);
console.log(`MiB: ${spread(compared, 'memory')}`);
console.log(`Processes: ${spread(compared, 'processes')}`);
process.exit(
  slope(compared, 'memory') < WANTED.memory && slope(compared, 'processes') < WANTED.processes ? 0 : 1,
);
