import assert from 'node:assert/strict';
import { CheckRhythm } from '../../../src/render/chromium/browsers/check-rhythm.ts';

type Work = Parameters<CheckRhythm['due']>[0][number];

describe('how often browsers are checked', () => {
  let rhythm: CheckRhythm;
  beforeEach(() => {
    rhythm = new CheckRhythm();
  });

  const browser = (fields: Partial<Work> = {}): Work => ({
    pid: 1,
    busy: 0,
    jobs: 3,
    group: undefined,
    retiring: false,
    drain: undefined,
    ...fields,
  });
  /** How many of `checks` checks are made. */
  const made = (checks: number, browsers: readonly Work[]) =>
    Array.from({ length: checks }, () => rhythm.due(browsers)).filter(Boolean).length;

  it('checks each time while there is work, and for a while after it', () => {
    assert.equal(made(100, [browser(), browser({ pid: 2, busy: 1 })]), 100);
    assert.equal(made(10, [browser(), browser({ pid: 2 })]), 10);
  });

  it('checks one time in ten at rest', () => {
    made(11, [browser()]);
    assert.equal(made(100, [browser()]), 10);
  });

  for (const [what, changed] of [
    ['a render that began and ended since the last check', { jobs: 4 }],
    ['another browser', { pid: 7 }],
    ['a browser that is to end', { retiring: true }],
    ['a browser of its own for a group', { group: 'one' }],
  ] as const) {
    it(`checks each time again after ${what}`, () => {
      made(50, [browser()]);
      assert.equal(made(11, [browser(changed)]), 11);
    });
  }

  it('checks each time again when a process is to be watched', () => {
    made(50, [browser()]);
    rhythm.wake();
    assert.equal(made(11, [browser()]), 11);
  });
});
