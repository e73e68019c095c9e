import assert from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import { openApi, type TestApi, type TestCaller } from './support/api.ts';

const FLOOD = 200;
/** Of the flood: two that are under way, those whose answers are on the way to their sender, and what comes between. */
const MOST_BEFORE = 20;
const WAITERS = 12;
const order = { html: '<p>x</p>', executionMode: 'async' };

describe('requests for work of several accounts', function () {
  this.timeout(60_000);
  let api: TestApi;
  let flooding: TestCaller;
  let other: TestCaller;

  before(async () => {
    api = await openApi({ plan: { concurrentRenders: WAITERS, monthlyRenders: 10_000 } });
    [flooding, other] = [await api.newCaller(), await api.newCaller()];
    for (const caller of [flooding, other]) await caller.completed();
  });
  after(() => api.close());

  it('hold no turn while their callers wait for the PDF', async () => {
    const go = Promise.withResolvers<void>();
    let rendering = 0;
    api.worker.render = async () => {
      rendering += 1;
      await go.promise;
      return { pages: 1 };
    };
    try {
      // Somebody else is about.
      assert.equal((await other.render(order)).status, 202);
      const waiting = Array.from({ length: WAITERS }, () => flooding.completed());
      await eventually('all of them are rendered at a time', async () => rendering === WAITERS + 1);
      go.resolve();
      await Promise.all(waiting);
    } finally {
      go.resolve();
    }
  });

  it(`are let in in turns: one is not behind ${FLOOD} that another account has sent before it`, async () => {
    let answered = 0;
    const flood = Array.from({ length: FLOOD }, async () => {
      const { status } = await flooding.render(order);
      assert.equal(status, 202);
      answered += 1;
    });
    await eventually('the flood is under way', async () => answered > 0);
    const before = answered;
    assert.equal((await other.render(order)).status, 202);
    const passed = answered - before;
    assert.ok(answered < FLOOD / 2, 'the flood was over: there was nothing to be behind');
    assert.ok(passed <= MOST_BEFORE, `${passed} of the flood went before it`);
    await Promise.all(flood);
  });

  it('that are refused give their turns back', async () => {
    assert.equal((await other.render(order)).status, 202);
    for (const body of [{ html: 1 }, '{', { html: 'x', options: { timeoutMs: 10 ** 9 } }]) {
      for (let i = 0; i < 3; i += 1) assert.ok((await flooding.render(body)).status < 500);
    }
    assert.equal((await flooding.render(order)).status, 202);
  });
});
