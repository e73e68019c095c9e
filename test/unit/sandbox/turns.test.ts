import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { sandboxProcesses, type Turn, Turns } from '../../../src/sandbox/turns.ts';
import { HeldClock } from '../../support/held-clock.ts';

describe('turns of accounts at the processes of a sandbox', () => {
  let turns: Turns<Turn>;
  let log: string[];
  let coming: number;
  let clock: HeldClock;
  const open = (places: number) => {
    turns = new Turns({ places, sliceMs: 20, coming: () => coming });
  };
  beforeEach(() => {
    log = [];
    coming = 0;
    clock = new HeldClock();
    mock.timers.enable({ apis: ['setTimeout'] });
    open(2);
  });
  afterEach(() => {
    clock.restore();
    mock.timers.reset();
  });
  const pass = (ms: number) => {
    for (let i = 0; i < ms; i += 1) {
      clock.nowMs += 1;
      mock.timers.tick(1);
    }
  };
  const call = (account: string, name = account): Turn => {
    const turn: Turn = {
      account,
      start: () => log.push(name),
      putBack: () => log.push(`${name} is put back`),
    };
    turns.wait(turn);
    return turn;
  };
  /** Runs calls of these accounts until they have turned out to be slow. */
  const makeSlow = (...accounts: string[]) => {
    const begun = accounts.map((account) => {
      const turn = call(account);
      assert.equal(turns.startNext(), true);
      return turn;
    });
    pass(40);
    return begun;
  };

  it('keeps one place closed to accounts whose calls are slow', () => {
    const [slow] = makeSlow('slow');
    turns.end(slow!);
    call('slow', 'first');
    call('slow', 'second');
    assert.equal(turns.startNext(), true);
    assert.equal(turns.startNext(), false, 'the other place is closed to it');
    call('quick');
    assert.equal(turns.startNext(), true);
    assert.deepEqual(log, ['slow', 'first', 'quick']);
  });

  it('puts a slow call back when a quick account waits and no place will be free', () => {
    makeSlow('a', 'b');
    coming = 1;
    call('quick');
    assert.deepEqual(log, ['a', 'b'], 'a process is being started for it');
    coming = 0;
    call('quick', 'another');
    assert.deepEqual(log, ['a', 'b', 'b is put back']);
    call('quick', 'third');
    assert.equal(log.length, 3, 'there is room now');
  });

  it('puts a call back as soon as its slice is over, if a quick account waits already, and never twice', () => {
    const a = call('a');
    const b = call('b');
    turns.startNext();
    turns.startNext();
    const quick = call('quick');
    pass(20);
    assert.deepEqual(log, ['a', 'b'], 'they may be quick yet');
    pass(1);
    assert.equal(log.length, 3, 'one is put back');
    const back = log[2] === 'a is put back' ? a : b;
    turns.wait(back);
    turns.startNext();
    assert.equal(log[3], 'quick', 'the quick account goes first');
    assert.equal(turns.startNext(), false, 'one slow call is under way, and one may be');
    turns.end(back === a ? b : a);
    turns.end(quick);
    assert.equal(turns.startNext(), true);
    pass(40);
    call('other');
    assert.equal(turns.startNext(), true);
    assert.equal(log.filter((line) => line.endsWith('back')).length, 1);
  });

  it('lets slow calls have all that there is when it is a single process', () => {
    open(1);
    const [slow] = makeSlow('slow');
    turns.end(slow!);
    call('slow', 'again');
    assert.equal(turns.startNext(), true);
  });

  it('has processes in proportion to the slots, and one more', () => {
    assert.deepEqual(
      [1, 2, 4, 8, 16, 256].map((slots) => sandboxProcesses(slots, 4)),
      [2, 2, 2, 3, 5, 8],
    );
  });
});
