import assert from 'node:assert/strict';
import { TimeoutError, within } from '../../../src/infra/async/timeout.ts';

describe('work within a time', () => {
  it('gives its result, or its error', async () => {
    assert.equal(await within(1000, 'a sum', Promise.resolve(2)), 2);
    await assert.rejects(within(1000, 'a sum', Promise.reject(new Error('no numbers'))), /no numbers/);
  });

  it('rejects once it takes longer, and names the work', async () => {
    const never = new Promise<never>(() => undefined);
    await assert.rejects(within(5, 'a sum', never), (error) => {
      assert.ok(error instanceof TimeoutError);
      assert.equal(error.message, 'a sum took longer than 5 ms');
      return true;
    });
  });

  it('ignores a rejection that comes too late', async () => {
    const forgotten: unknown[] = [];
    const note = (reason: unknown) => forgotten.push(reason);
    process.on('unhandledRejection', note);
    const late = Promise.withResolvers<never>();
    await assert.rejects(within(5, 'a sum', late.promise), TimeoutError);
    late.reject(new Error('too late'));
    await new Promise((resolve) => setTimeout(resolve, 10));
    process.off('unhandledRejection', note);
    assert.deepEqual(forgotten, []);
  });
});
