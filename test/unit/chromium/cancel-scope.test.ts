import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { CancelScope } from '../../../src/render/chromium/cancel-scope.ts';

const never = new Promise<never>(() => undefined);

describe('the end of a job', () => {
  // Its clock and its timers go on only when they are told to, and together.
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.UTC(2026, 0, 1) }));
  afterEach(() => mock.timers.reset());
  const pass = (ms: number) => mock.timers.tick(ms);

  it('comes with its deadline', async () => {
    const end = new CancelScope(Date.now() + 20, new AbortController().signal);
    pass(19);
    assert.equal(end.error, undefined);
    pass(1);
    await assert.rejects(end.race(never), { code: 'RENDER_TIMEOUT' });
    assert.equal(end.signal.aborted, true);
  });

  it('is named after what was being waited for', async () => {
    const end = new CancelScope(Date.now() + 20, new AbortController().signal);
    const waiting = end.raceAs('SELECTOR_TIMEOUT', 'no such thing', never);
    pass(20);
    await assert.rejects(waiting, { code: 'SELECTOR_TIMEOUT', message: 'no such thing' });
  });

  it('comes with its signal, and the first reason stands', async () => {
    const cancel = new AbortController();
    const end = new CancelScope(Date.now() + 20, cancel.signal);
    cancel.abort();
    await assert.rejects(end.race(never), { code: 'CANCELLED' });
    pass(40);
    assert.equal(end.error?.code, 'CANCELLED');
  });

  it('lets what is done in time through', async () => {
    const end = new CancelScope(Date.now() + 1000, new AbortController().signal);
    assert.equal(await end.race(Promise.resolve(1)), 1);
    end.dispose();
  });

  it('comes no nearer while its clock stands still', async () => {
    const end = new CancelScope(Date.now() + 40, new AbortController().signal);
    end.stopClock();
    pass(80);
    assert.equal(end.error, undefined);
    assert.equal(end.deadline, Date.now() + 40);
    end.startClock();
    pass(39);
    assert.equal(end.error, undefined);
    pass(1);
    await assert.rejects(end.race(never), { code: 'RENDER_TIMEOUT' });
    assert.equal(end.deadline, Date.now());
  });

  it('does not come any more once the job is done', async () => {
    const end = new CancelScope(Date.now() + 20, new AbortController().signal);
    end.stopClock();
    end.dispose();
    end.startClock();
    pass(40);
    assert.equal(end.error, undefined);
  });
});
