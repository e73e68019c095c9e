import assert from 'node:assert/strict';
import { runChaos } from '../chaos/chaos.ts';

const SEED = Number(process.env.SEED ?? 1);
/** They come within half a minute, in which everything that there is is killed. `make chaos` has 600, and other seeds. */
const SUBMISSIONS = 210;
/** Half a minute more is enough on a machine that has nothing else to do. */
const LIMIT_MS = 300_000;

describe(`${SUBMISSIONS} submissions while every two seconds something is killed`, function () {
  this.timeout(500_000);

  it(`have one job, one right PDF, one unit of quota and one count of usage each, and leave nothing (SEED=${SEED})`, async () => {
    const story: string[] = [];
    const findings = await runChaos({
      seed: SEED,
      submissions: SUBMISSIONS,
      limitMs: LIMIT_MS,
      log: (line) => story.push(line),
    });
    if (findings.length > 0) console.error(story.join('\n'));
    assert.deepEqual(findings, []);
  });
});
