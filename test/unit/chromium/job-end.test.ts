import assert from 'node:assert/strict';
import { JobEnd } from '../../../src/chromium/job-end.ts';

const never = new Promise<never>(() => undefined);

describe('the end of a job', () => {
  it('comes with its deadline', async () => {
    const end = new JobEnd(Date.now() + 20, new AbortController().signal);
    await assert.rejects(end.race(never), { code: 'RENDER_TIMEOUT' });
    assert.equal(end.signal.aborted, true);
  });

  it('is named after what was being waited for', async () => {
    const end = new JobEnd(Date.now() + 20, new AbortController().signal);
    await assert.rejects(end.raceAs('SELECTOR_TIMEOUT', 'no such thing', never), {
      code: 'SELECTOR_TIMEOUT',
      message: 'no such thing',
    });
  });

  it('comes with its signal, and the first reason stands', async () => {
    const cancel = new AbortController();
    const end = new JobEnd(Date.now() + 20, cancel.signal);
    cancel.abort();
    await assert.rejects(end.race(never), { code: 'CANCELLED' });
    await new Promise((resolve) => setTimeout(resolve, 40));
    assert.equal(end.error?.code, 'CANCELLED');
  });

  it('lets what is done in time through', async () => {
    const end = new JobEnd(Date.now() + 1000, new AbortController().signal);
    assert.equal(await end.race(Promise.resolve(1)), 1);
    end.dispose();
  });

  it('comes no nearer while its clock stands still', async () => {
    const end = new JobEnd(Date.now() + 40, new AbortController().signal);
    end.stopClock();
    await new Promise((resolve) => setTimeout(resolve, 80));
    assert.equal(end.error, undefined);
    assert.ok(end.deadline > Date.now());
    end.startClock();
    await assert.rejects(end.race(never), { code: 'RENDER_TIMEOUT' });
    assert.ok(Date.now() >= end.deadline - 2);
  });

  it('does not come any more once the job is done', async () => {
    const end = new JobEnd(Date.now() + 20, new AbortController().signal);
    end.stopClock();
    end.dispose();
    end.startClock();
    await new Promise((resolve) => setTimeout(resolve, 40));
    assert.equal(end.error, undefined);
  });
});
