import { rename, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { stopMongo } from '../support/mongo.ts';
import { openTwins } from '../support/twins.ts';
import { reported } from './figures.ts';

/*
 * Of `make soak`: the time from a change of the plans' file until each of two processes has it in force, as a part of the two
 * seconds that are promised.
 */
const PROMISED_MS = 2000;
const CHANGES = 20;

const twins = await openTwins({ requestsPerMinute: 10_000, concurrentRenders: 1 });
const ratios: number[] = [];
try {
  for (let change = 1; change <= CHANGES; change += 1) {
    const samples = () =>
      twins.roles.map(
        ({ logs }) => logs.filter(({ msg }) => msg === 'the plans file has been read again').length,
      );
    const before = samples();
    const plans = { professional: { requestsPerMinute: 10_000 + change, concurrentRenders: 1 } };
    await writeFile(`${twins.plansFile}.new`, JSON.stringify({ plans }));
    // At any moment between two looks at the file.
    await sleep(Math.random() * 1000);
    const began = performance.now();
    await rename(`${twins.plansFile}.new`, twins.plansFile);
    const isInForce = () => samples().every((count, i) => count > before[i]!);
    await eventually('both have it', isInForce, 60_000);
    ratios.push((performance.now() - began) / PROMISED_MS);
  }
} finally {
  await twins.stop();
  await stopMongo();
}
console.log(reported('A changed plans file in force, in parts of two seconds', ratios));
process.exit();
