import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { LeastRate } from '../../../src/infra/overload/least-rate.ts';

describe('A least rate', () => {
  let rate: LeastRate;
  beforeEach(() => {
    mock.timers.enable({ apis: ['setInterval', 'setImmediate'] });
    rate = new LeastRate({ bytesPerSecond: 100, windowMs: 1000 });
  });
  afterEach(() => mock.timers.reset());

  /** Lets time pass to the end of a window, and runs the second check as well. */
  function endWindow(): void {
    mock.timers.tick(1000);
    for (let tick = 0; tick < 3; tick += 1) mock.timers.tick(0);
  }

  it('gives up data that were too slow for a whole window', () => {
    let given = 0;
    const upload = rate.watch(() => {
      given += 1;
    });
    endWindow();
    upload.received(100);
    endWindow();
    assert.equal(given, 0);
    upload.received(99);
    endWindow();
    assert.equal(given, 1);
    endWindow();
    assert.equal(given, 1);
  });

  it('does not give up data that have been received', () => {
    const upload = rate.watch(() => assert.fail('was given up'));
    upload.done();
    for (let window = 0; window < 3; window += 1) endWindow();
  });

  it('counts data that were read only after the window, when the event loop was blocked', () => {
    const upload = rate.watch(() => assert.fail('was given up'));
    endWindow();
    setImmediate(() => upload.received(100));
    endWindow();
  });
});
