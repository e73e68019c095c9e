import assert from 'node:assert/strict';
import { IDLE_MS, NetworkActivity } from '../../../src/render/chromium/page/network-activity.ts';
import { ManualTimers } from '../../support/manual-timers.ts';

describe('the activity of the network', () => {
  let timers: ManualTimers;
  let activity: NetworkActivity;
  beforeEach(() => {
    timers = new ManualTimers();
    activity = new NetworkActivity(timers);
  });

  /** Lets so much time pass, then says whether the network is idle. */
  const idleAfter = async (ms: number) => {
    let idle = false;
    void activity.idle().then(() => {
      idle = true;
    });
    await timers.pass(ms);
    return idle;
  };

  it('ends half a second after the start of a document without requests', async () => {
    activity.begin();
    assert.equal(await idleAfter(IDLE_MS - 1), false);
    assert.equal(await idleAfter(1), true);
  });

  it('goes on until a request has its response, however long that takes', async () => {
    activity.asked('a', {});
    assert.equal(await idleAfter(100 * IDLE_MS), false);
    activity.responded('a');
    assert.equal(await idleAfter(IDLE_MS - 1), false);
    assert.equal(await idleAfter(1), true);
  });

  it('goes on with each byte, and ends with a body that nobody reads', async () => {
    activity.asked('a', {});
    activity.responded('a');
    await timers.pass(IDLE_MS - 1);
    activity.moved();
    assert.equal(await idleAfter(IDLE_MS - 1), false);
    assert.equal(await idleAfter(1), true);
  });

  it('forgets the requests of a document that is replaced, and of a frame that is removed', async () => {
    activity.asked('a', { frameId: 'main' });
    activity.begin();
    assert.equal(await idleAfter(IDLE_MS), true);
    activity.asked('b', { frameId: 'inner' });
    activity.removed('inner');
    assert.equal(await idleAfter(IDLE_MS), true);
  });

  it('does not wait for the response to a beacon', async () => {
    activity.asked('a', { type: 'Ping' });
    assert.equal(await idleAfter(IDLE_MS), true);
  });
});
