import assert from 'node:assert/strict';
import { AdmissionQueue } from '../../../src/infra/scheduling/admission-queue.ts';
import { eventually } from '../../support/eventually.ts';
import { type Case, runCases } from './support/cases.ts';

const GAP_MS = 5;
const FLOODS = Array.from({ length: 16 }, (_, n) => `flood${n}`).join(' ');

/** The options are the gap, in milliseconds. */
const CASES: readonly Case<number>[] = [
  {
    title: 'are 16 for an account that is alone',
    steps: [
      ['flood*20', 'flood*16'],
      ['-flood', 'flood'],
    ],
  },
  {
    title: 'are two for each account while another one is active',
    steps: [['other', 'other'], ['-other'], ['flood*10', 'flood*2'], ['other', 'other'], ['-flood', 'flood']],
  },
  {
    title: 'are 16 for an account again when the others have sent nothing for five seconds',
    steps: [['other', 'other'], ['-other'], ['flood*10', 'flood*2'], ['+5001', 'flood*8']],
  },
  {
    title: 'go to a newcomer before accounts that have held many',
    steps: [[FLOODS, FLOODS], ['flood0*3 flood1*3'], ['+100'], ['newcomer'], ['-flood0', 'newcomer']],
  },
  {
    title: 'for the background have no gap when only callers of the same account wait',
    options: GAP_MS,
    steps: [
      ['flood', 'flood'],
      ['background flood'],
      ['-flood'],
      ['awaited flood'],
      ['background flood'],
      ['flood*3', 'flood*3'],
    ],
  },
  {
    title: 'for the background have no gap when nothing is rendered on the same cores',
    options: 0,
    steps: [['flood', 'flood'], ['background flood'], ['-flood'], ['awaited other'], ['flood*3', 'flood*3']],
  },
  {
    title: 'have no gap for accounts whose callers wait',
    options: GAP_MS,
    steps: [['awaited other'], ['third', 'third'], ['-third'], ['awaited third'], ['third', 'third']],
  },
];

describe('Permits to admit requests for work', () => {
  runCases(
    CASES,
    (now, gapMs = 0) => new AdmissionQueue({ now, gapMs }),
    (queue) => ({
      background: (account) => queue.noteBackground(account!),
      awaited: (account) => queue.noteAwaited(account!),
    }),
  );

  it('are waited for 30 seconds at most', async () => {
    const queue = new AdmissionQueue({ maxWaitMs: 5 });
    await queue.acquire({ account: 'other' });
    for (let n = 0; n < 2; n += 1) await queue.acquire({ account: 'flood' });
    await assert.rejects(queue.acquire({ account: 'flood' }), { code: 'UNAVAILABLE', retryAfterSeconds: 1 });
  });

  it('for the background have a gap between them while a caller of another account waits for a PDF', async () => {
    let now = 0;
    const queue = new AdmissionQueue({ now: () => now, gapMs: GAP_MS });
    let granted = 0;
    const admitOne = async () => {
      const permit = await queue.acquire({ account: 'flood' });
      granted += 1;
      permit.release();
    };
    await admitOne();
    queue.noteBackground('flood');
    queue.noteAwaited('other');
    const others = [admitOne(), admitOne()];
    await new Promise(setImmediate);
    assert.equal(granted, 1, 'the gap goes on');
    now += GAP_MS + 1;
    await eventually('the next one is granted by itself', () => granted === 2);
    await new Promise(setImmediate);
    assert.equal(granted, 2, 'the next gap goes on');
    now += 5001;
    await Promise.all(others);
  });
});
