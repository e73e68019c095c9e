import assert from 'node:assert/strict';
import { BrowserDrain } from '../../../src/render/chromium/browsers/browser-drain.ts';

const LIMITS = { drainJobs: 100, drainMs: 60_000 };
const STARTED = 1_000_000;
const JOBS = 5000;

describe('the drain of a browser', () => {
  const begin = () => new BrowserDrain(LIMITS, JOBS, STARTED);

  it('is over when its renders or its time are used up, whichever comes first', () => {
    const drain = begin();
    assert.equal(drain.isOver(JOBS, STARTED), false);
    assert.equal(drain.isOver(JOBS + 99, STARTED + 59_999), false);
    assert.equal(drain.isOver(JOBS + 100, STARTED), true);
    assert.equal(drain.isOver(JOBS, STARTED + 60_000), true);
  });

  for (const [bound, at] of [
    ['renders', (part: number) => ({ jobs: JOBS + part * LIMITS.drainJobs, now: STARTED })],
    ['time', (part: number) => ({ jobs: JOBS, now: STARTED + part * LIMITS.drainMs })],
  ] as const) {
    it(`has its contexts moved evenly over its ${bound}`, () => {
      const drain = begin();
      let left = 10;
      const moved: number[] = [];
      for (let percent = 0; percent <= 100; percent++) {
        const { jobs, now } = at(percent / 100);
        while (left > 0 && drain.isBehind(left, jobs, now)) {
          drain.moved();
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
