import assert from 'node:assert/strict';
import { every } from '../../../src/infra/async/every.ts';
import { eventually } from '../../support/eventually.ts';

const PERIOD_MS = 20;

describe('What is done every so often', () => {
  it('is done within one turn where the period is the same, until it is ended', async () => {
    const calls: string[] = [];
    let turn = 0;
    const note = (name: string) => () => {
      if (calls.length === 0) setImmediate(() => turn++);
      calls.push(`${name} ${turn}`);
    };
    const ends = ['a', 'b', 'c'].map((name) => every(PERIOD_MS, note(name)));
    await eventually(
      'the first is called again',
      () => calls.filter((call) => call.startsWith('a')).length > 1,
    );
    assert.deepEqual(calls.slice(0, 3), ['a 0', 'b 0', 'c 0']);

    ends[0]!();
    calls.length = 0;
    await eventually('the others are called', () => calls.length >= 2);
    assert.ok(calls.every((call) => !call.startsWith('a')));

    for (const end of ends) end();
    calls.length = 0;
    let others = 0;
    const end = every(PERIOD_MS, () => others++);
    await eventually('it begins again', () => others > 2);
    end();
    assert.deepEqual(calls, []);
  });

  it('may be the same function twice', async () => {
    let count = 0;
    const work = () => count++;
    const [first, second] = [every(PERIOD_MS, work), every(PERIOD_MS, work)];
    first();
    first();
    await eventually('the second is called', () => count > 1);
    second();
  });
});
