import assert from 'node:assert/strict';
import { runChaos } from '../chaos/chaos.ts';

const SEED = Number(process.env.SEED ?? 1);
const LIMIT_MS = 200_000;

describe('600 orders while every two seconds something is killed', function () {
  this.timeout(300_000);

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
