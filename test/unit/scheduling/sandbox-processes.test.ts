import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { SandboxQueue, sandboxProcesses } from '../../../src/infra/scheduling/sandbox-processes.ts';
import { HeldClock } from '../../support/held-clock.ts';
import { type Case, runCases, type Step } from './support/cases.ts';

const SLICE_MS = 20;

/** All calls have begun and become slow. */
const makeSlow = (accounts: string): readonly Step[] => [[accounts, accounts], ['+40']];

/** The options are the number of processes. */
const CASES: readonly Case<number>[] = [
  {
    title: 'are closed to slow accounts, except for all but one',
    steps: [...makeSlow('slow'), ['-slow'], ['slow*2', 'slow'], ['quick', 'quick']],
  },
  {
    title: 'go to a known quick account before newcomers',
    steps: [['quick x', 'quick x'], ['-quick'], ['y', 'y'], ['newcomer quick'], ['-x', 'quick']],
  },
  {
    title: 'are taken from the latest slow call when a quick account waits and no process is being started',
    steps: [
      ...makeSlow('a b'),
      ['starting 1'],
      ['quick'],
      ['starting 0'],
      ['quick', 'b-is-preempted'],
      ['quick'],
    ],
  },
  {
    title:
      'are taken from a call once its slice is over, when a quick account waits already, and never twice',
    steps: [
      ['a b', 'a b'],
      ['quick'],
      ['+20'],
      ['+1', 'b-is-preempted'],
      ['ended', 'quick'],
      ['again b'],
      ['-a', 'b'],
      ['-quick'],
      ['other', 'other'],
      ['+40'],
      ['third', 'other-is-preempted'],
    ],
  },
  {
    title: 'are open to slow calls when there is only one',
    options: 1,
    steps: [...makeSlow('slow'), ['-slow'], ['slow', 'slow']],
  },
];

describe('Processes of a sandbox', () => {
  let clock: HeldClock;
  beforeEach(() => {
    clock = new HeldClock();
    mock.timers.enable({ apis: ['setTimeout'] });
  });
  afterEach(() => {
    clock.restore();
    mock.timers.reset();
  });

  runCases(CASES, open, ({ processes, queue, begin }) => ({
    starting: (count) => {
      processes.starting = Number(count);
    },
    /** The process of the preempted call has ended, and another one has started. */
    ended: () => {
      processes.idle += 1;
      queue.grant();
    },
    again: (account) => void begin(account!, false),
  }));

  function open(now: () => number, total = 2, note: (text: string) => void) {
    const processes = { idle: total, starting: 0 };
    let passed = now();
    const queue = new SandboxQueue<undefined>({
      processes: total,
      sliceMs: SLICE_MS,
      idle: () => processes.idle,
      take: () => {
        processes.idle -= 1;
        return undefined;
      },
      starting: () => processes.starting,
    });
    const begin = async (account: string, mayPreempt: boolean, signal?: AbortSignal) => {
      const permit = await queue.acquireProcess(account, mayPreempt, signal);
      if (!mayPreempt) note(account);
      void permit.preempted.then(() => note(`${account}-is-preempted`));
      const release = () => {
        processes.idle += 1;
        permit.release();
      };
      return { account, release };
    };
    return {
      processes,
      queue,
      begin,
      acquire: ({ account }: { account: string }, signal?: AbortSignal) => begin(account, true, signal),
      grant() {
        for (; passed < now(); passed += 1) {
          clock.nowMs += 1;
          mock.timers.tick(1);
        }
      },
    };
  }

  it('are proportional to the slots, plus one', () => {
    assert.deepEqual(
      [1, 2, 4, 8, 16, 256].map((slots) => sandboxProcesses(slots, 4)),
      [2, 2, 2, 3, 5, 8],
    );
  });
});
