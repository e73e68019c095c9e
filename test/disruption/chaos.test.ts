import assert from 'node:assert/strict';
import { runChaos } from '../chaos/chaos.ts';

const SEED = Number(process.env.SEED ?? 1);
/** The orders come within 86 s, and it takes half a minute more on a machine that has nothing else to do. */
const LIMIT_MS = 300_000;

describe('600 orders while every two seconds something is killed', function () {
  this.timeout(500_000);

  it(`have one job, one right PDF, one unit of quota and one count of usage each, and leave nothing (SEED=${SEED})`, async () => {
    const story: string[] = [];
    const findings = await runChaos({
      seed: SEED,
      orders: 600,
      limitMs: LIMIT_MS,
      log: (line) => story.push(line),
    });
    if (findings.length > 0) console.error(story.join('\n'));
    assert.deepEqual(findings, []);
  });
});
