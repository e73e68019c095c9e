import assert from 'node:assert/strict';
import { nextDelayMs, retryAfterMs } from '../../../src/work/callbacks/retry-schedule.ts';

describe('The schedule of callbacks', () => {
  it('never tries early, and spreads retries after a common failure', () => {
    const waits = [5, 30, 120, 600, 1800, 7200, 21_600].map((seconds) => seconds * 1000);
    for (const [i, wait] of waits.entries()) {
      assert.equal(
        nextDelayMs(i + 1, undefined, () => 0),
        wait,
      );
      const longest = nextDelayMs(i + 1, undefined, () => 0.999)!;
      assert.ok(longest > wait * 1.19 && longest < wait * 1.2);
    }
    assert.equal(
      nextDelayMs(8, 1000, () => 0),
      undefined,
    );
  });

  it('reads Retry-After in seconds and as a date, and nothing else', () => {
    const now = new Date('2026-11-22T02:00:00Z');
    for (const [header, ms] of [
      ['120', 120_000],
      [' 0 ', 0],
      ['Sun, 22 Nov 2026 02:01:00 GMT', 60_000],
      ['Sun, 22 Nov 2026 01:00:00 GMT', 0],
      ['-5', undefined],
      ['1.5', undefined],
      ['99999999999999', undefined],
      ['soon', undefined],
      ['', undefined],
      [undefined, undefined],
    ] as const) {
      assert.equal(retryAfterMs(header, now), ms, String(header));
    }
  });
});
