import { WorkerSlots } from '../../../src/infra/scheduling/worker-slots.ts';
import { type Case, runCases, type Step } from './support/cases.ts';

interface Options {
  readonly slots: number;
  readonly computing?: number;
}

/** How long an account holds a slot, in milliseconds. */
const hold = (account: string, ms: number): readonly Step[] => [
  [account, account],
  [`+${ms}`],
  [`-${account}`],
];

const CASES: readonly Case<Options>[] = [
  {
    title: 'are never exceeded',
    options: { slots: 2 },
    steps: [['a b!', 'a b!'], ['a'], ['-a', 'a']],
  },
  {
    title: 'go to interactive jobs first, and every fourth time to a waiting bulk job',
    options: { slots: 1 },
    steps: [
      ['x!', 'x!'],
      ['b!*2 i*4'],
      ['-x', 'i'],
      ['-i', 'i'],
      ['-i', 'i'],
      ['-i', 'b!'],
      ['-b', 'i'],
      ['-i', 'b!'],
    ],
  },
  {
    title: 'that are kept for interactive jobs never go to bulk ones',
    options: { slots: 2 },
    steps: [...hold('i', 0), ['bulk!*4', 'bulk!'], ...Array.from({ length: 5 }, () => hold('i', 0)).flat()],
  },
  {
    title: 'are all open to one account while no other is active',
    options: { slots: 4 },
    steps: [...hold('slow', 10_000), ['slow*4', 'slow*4']],
  },
  {
    title:
      'are kept, a quarter of them, for quick accounts from all slow ones together, while a quick one is active',
    options: { slots: 4 },
    steps: [
      ...hold('slow', 10_000),
      ...hold('slower', 20_000),
      ...hold('quick', 50),
      ['slow slower slow', 'slow slower slow'],
      ['slow slower'],
      ...hold('quick', 0),
      ['-slow', 'slow'],
    ],
  },
  {
    title: 'are kept for a minute after the last request of a quick account',
    options: { slots: 2 },
    steps: [
      ...hold('quick', 50),
      ...hold('slow', 10_000),
      ['slow', 'slow'],
      ['slow'],
      ['+49950'],
      ['+1', 'slow'],
    ],
  },
  {
    title: 'are one more when all slots are held by slow accounts, and not two',
    options: { slots: 2 },
    steps: [
      ['flood*2', 'flood*2'],
      ['flood other third'],
      ['+3000'],
      ['+1', 'other'],
      ['+3001'],
      ['-flood', 'third'],
    ],
  },
  {
    title: 'have a spare one for known quick accounts before newcomers',
    options: { slots: 2 },
    steps: [...hold('quick', 50), ['slow slower', 'slow slower'], ['newcomer quick'], ['+3001', 'quick']],
  },
  {
    title: 'have a spare one beside paused renders as well, which do not make their accounts slow',
    options: { slots: 2 },
    steps: [
      ['waiting slow', 'waiting slow'],
      ['pause waiting'],
      ['other'],
      ['+3001', 'other'],
      ['resume waiting'],
      ['-waiting'],
      ['waiting'],
    ],
  },
  {
    title: 'have no spare one when there is only one slot',
    options: { slots: 1 },
    steps: [['flood', 'flood'], ['other'], ['+3001']],
  },
  {
    title: 'are kept, the last of eight, for an account that holds none',
    options: { slots: 8 },
    steps: [['flood*9', 'flood*7'], ['newcomer', 'newcomer'], ['-newcomer'], ['-flood', 'flood']],
  },
  {
    title: 'are all open to one account when there are fewer than eight',
    options: { slots: 7 },
    steps: [['flood*7', 'flood*7']],
  },
  {
    title:
      'are there at once for one render of an account that holds none, though another has all that compute',
    options: { slots: 16, computing: 2 },
    steps: [['flood*9', 'flood*2'], ['newcomer', 'newcomer'], ['newcomer'], ['-newcomer', 'newcomer']],
  },
  {
    title: 'go to quick accounts beyond the computing renders, until as many quick accounts hold one',
    options: { slots: 16, computing: 2 },
    steps: [
      ...hold('slow', 10_000),
      ...hold('quick', 50),
      ['flood*2', 'flood*2'],
      ['second', 'second'],
      ['third slow'],
      ['+3001', 'third'],
      ['fourth', 'fourth'],
    ],
  },
  {
    title: 'go to a slow account as well, when another account has all computing renders',
    options: { slots: 16, computing: 2 },
    steps: [...hold('slow', 10_000), ['flood*3', 'flood*2'], ['slow*2', 'slow']],
  },
  {
    title: 'are kept from an account whose running render is slow',
    options: { slots: 2 },
    steps: [...hold('quick', 50), ['slow', 'slow'], ['+5000'], ['slow'], ['quick', 'quick']],
  },
  {
    title:
      'are kept from bulk jobs, all but a quarter of those that compute, until five seconds after an interactive one',
    options: { slots: 4 },
    steps: [...hold('caller', 0), ['bulk!*6', 'bulk!'], ...hold('caller', 0), ['+5001', 'bulk!*2']],
  },
  {
    title: 'are kept together with some permits to compute, which blocked renders do not need',
    options: { slots: 16, computing: 4 },
    steps: [
      ...hold('quick', 50),
      ...hold('slow', 10_000),
      ['slow*16', 'slow*3'],
      ['quick', 'quick'],
      ['blocked 2', 'slow*2'],
    ],
  },
  {
    title: 'exceed the computing renders only beside blocked ones, and never the number of slots',
    options: { slots: 3, computing: 1 },
    steps: [['a*4', 'a'], ['blocked 1', 'a'], ['blocked 3', 'a'], ['blocked 0'], ['-a'], ['-a'], ['-a', 'a']],
  },
];

describe('Slots of a worker', () => {
  runCases(
    CASES,
    (now, options) => new WorkerSlots(options!.slots, { ...options, now }),
    (slots) => ({ blocked: (renders) => slots.setBlocked(Number(renders)) }),
  );
});
