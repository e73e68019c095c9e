import assert from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import { type TestCaller, useApi } from './support/api.ts';

const FLOOD = 50;
const AT_A_TIME = 2;
const WAITERS = 12;
// Large enough for a record of its own, whose writing is held up below.
const submission = { html: '<p>x</p>'.padEnd(40_000), executionMode: 'async' };

describe('Requests for work of several accounts', () => {
  const api = useApi({ plan: { concurrentRenders: WAITERS, monthlyRenders: 10_000 } });
  let flooding: TestCaller;
  let other: TestCaller;

  before(async () => {
    [flooding, other] = [await api.newCaller(), await api.newCaller()];
    for (const caller of [flooding, other]) await caller.completed();
  });

  it('hold no permit while their callers wait for the PDF', async () => {
    const go = Promise.withResolvers<void>();
    let rendering = 0;
    api.worker.render = async () => {
      rendering += 1;
      await go.promise;
      return { pages: 1 };
    };
    try {
      // Makes another account active.
      assert.equal((await other.render(submission)).status, 202);
      const waiting = Array.from({ length: WAITERS }, () => flooding.completed());
      await eventually('all of them are rendered at a time', async () => rendering === WAITERS + 1);
      go.resolve();
      await Promise.all(waiting);
    } finally {
      go.resolve();
    }
  });

  it(`are admitted two at a time of ${FLOOD} of one account, and concurrently of another account`, async () => {
    const go = Promise.withResolvers<void>();
    const { inputs } = api.domain.store;
    const save = inputs.save.bind(inputs);
    let inside = 0;
    let most = 0;
    inputs.save = async (saved) => {
      if (saved[0]?.accountId !== flooding.accountId) return save(saved);
      inside += 1;
      most = Math.max(most, inside);
      await go.promise;
      await save(saved);
      inside -= 1;
    };
    try {
      // The account is active from here on.
      assert.equal((await other.render(submission)).status, 202);
      const flood = Array.from({ length: FLOOD }, () => flooding.render(submission));
      const bytes = FLOOD * JSON.stringify(submission).length;
      await eventually('all of the flood has come', () => api.bodies.bytesInFlight === bytes);
      await eventually('some of it is being let in', () => inside > 0);
      assert.equal((await other.render(submission)).status, 202);
      assert.equal(inside, AT_A_TIME);
      go.resolve();
      for (const { status } of await Promise.all(flood)) assert.equal(status, 202);
      assert.equal(most, AT_A_TIME);
    } finally {
      inputs.save = save;
      go.resolve();
    }
  });

  it('give their permits back when they are rejected', async () => {
    assert.equal((await other.render(submission)).status, 202);
    for (const body of [{ html: 1 }, '{', { html: 'x', options: { timeoutMs: 10 ** 9 } }]) {
      for (let i = 0; i < 3; i += 1) assert.ok((await flooding.render(body)).status < 500);
    }
    assert.equal((await flooding.render(submission)).status, 202);
  });
});
