import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { LeastRate } from '../../../src/limits/least-rate.ts';

describe('a least rate', () => {
  let rate: LeastRate;
  beforeEach(() => {
    mock.timers.enable({ apis: ['setInterval', 'setImmediate'] });
    rate = new LeastRate({ bytesPerSecond: 100, windowMs: 1000 });
  });
  afterEach(() => mock.timers.reset());

  /** Goes on to the end of a window, and looks again as often as it is looked again. */
  function endWindow(): void {
    mock.timers.tick(1000);
    for (let turn = 0; turn < 3; turn += 1) mock.timers.tick(0);
  }

  it('gives up what has come too slowly for a whole window', () => {
    let given = 0;
    const upload = rate.watch(() => {
      given += 1;
    });
    endWindow();
    upload.came(100);
    endWindow();
    assert.equal(given, 0);
    upload.came(99);
    endWindow();
    assert.equal(given, 1);
    endWindow();
    assert.equal(given, 1);
  });

  it('leaves alone what is here', () => {
    const upload = rate.watch(() => assert.fail('was given up'));
    upload.done();
    for (let window = 0; window < 3; window += 1) endWindow();
  });

  it('counts what was read only after the window, when the process was held up', () => {
    const upload = rate.watch(() => assert.fail('was given up'));
    endWindow();
    setImmediate(() => upload.came(100));
    endWindow();
  });
});
