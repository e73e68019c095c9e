import assert from 'node:assert/strict';
import { Handover } from '../../../src/chromium/pool/handover.ts';

const LIMITS = { handoverJobs: 100, handoverMs: 60_000 };
const STARTED = 1_000_000;
const JOBS = 5000;

describe('the handover of a browser', () => {
  const begin = () => new Handover(LIMITS, JOBS, STARTED);

  it('is over when its renders or its time are used up, whichever comes first', () => {
    const handover = begin();
    assert.equal(handover.isOver(JOBS, STARTED), false);
    assert.equal(handover.isOver(JOBS + 99, STARTED + 59_999), false);
    assert.equal(handover.isOver(JOBS + 100, STARTED), true);
    assert.equal(handover.isOver(JOBS, STARTED + 60_000), true);
  });

  for (const [bound, at] of [
    ['renders', (part: number) => ({ jobs: JOBS + part * LIMITS.handoverJobs, now: STARTED })],
    ['time', (part: number) => ({ jobs: JOBS, now: STARTED + part * LIMITS.handoverMs })],
  ] as const) {
    it(`has its contexts moved evenly over its ${bound}`, () => {
      const handover = begin();
      let left = 10;
      const moved: number[] = [];
      for (let percent = 0; percent <= 100; percent++) {
        const { jobs, now } = at(percent / 100);
        while (left > 0 && handover.isBehind(left, jobs, now)) {
          handover.moved();
          left--;
          moved.push(percent);
        }
      }
      assert.deepEqual(moved, [1, 11, 21, 31, 41, 51, 61, 71, 81, 91]);
    });
  }

  it('is never behind with nothing to move', () => {
    assert.equal(begin().isBehind(0, JOBS + 50, STARTED + 30_000), false);
  });
});
