import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import { setImmediate as nextTick } from 'node:timers/promises';
import { EventStreams, type Snapshot } from '../../../src/http/request/event-stream.ts';
import { ManualTimers } from '../../support/manual-timers.ts';

let resources = 0;

/** A resource to follow: its state is a number, up to its end. */
function newResource(overrides: { at?: number; end?: number } = {}) {
  resources += 1;
  return {
    name: `resource-${resources}`,
    at: overrides.at ?? 0,
    end: overrides.end ?? 10,
    polls: 0,
    async check(): Promise<Snapshot> {
      this.polls += 1;
      return { id: `${this.at}`, data: { at: this.at, filler: 'x'.repeat(600) }, last: this.at >= this.end };
    },
  };
}

/** The events that a stream has sent so far. */
function reader(stream: Readable) {
  let text = '';
  let ended = false;
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  stream.on('end', () => {
    ended = true;
  });
  return {
    get ids() {
      return [...text.matchAll(/^id: (.+)$/gm)].map(([, id]) => Number(id));
    },
    get names() {
      return [...text.matchAll(/^event: (.+)$/gm)].map(([, name]) => name);
    },
    get ended() {
      return ended;
    },
  };
}

describe('Event streams', () => {
  let timers: ManualTimers;
  beforeEach(() => {
    timers = new ManualTimers();
  });

  /** Lets time pass, and has the streams' readers receive what is sent meanwhile. @param ms milliseconds. */
  async function pass(ms: number): Promise<void> {
    for (const untilMs = timers.nowMs() + ms; timers.nowMs() < untilMs; ) {
      await timers.pass(Math.min(50, untilMs - timers.nowMs()));
      for (let ticks = 0; ticks < 5; ticks += 1) await nextTick();
    }
  }

  /** Lets time pass until a condition holds. @param limitMs milliseconds. Default 10,000. */
  async function eventually(what: string, holds: () => boolean, limitMs = 10_000): Promise<void> {
    for (const untilMs = timers.nowMs() + limitMs; !holds(); await pass(50))
      assert.ok(timers.nowMs() < untilMs, `not within ${limitMs} ms: ${what}`);
  }

  const open = (limits?: { perOwner: number; inAll: number }) => new EventStreams(limits, timers);

  const follow = (
    streams: EventStreams,
    resource: ReturnType<typeof newResource>,
    {
      accountId = 'account',
      lastEventId,
      check = () => resource.check(),
    }: { accountId?: string; lastEventId?: string; check?: () => Promise<Snapshot> } = {},
  ) =>
    streams.follow({ accountId, resource: resource.name, group: `of ${resource.name}`, lastEventId, check });

  it('send each change once, then the end, and close', async () => {
    const followed = newResource();
    const events = reader(follow(open(), followed));
    await eventually('the first event', () => events.ids.length === 1);
    followed.at = 4;
    await eventually('a change', () => events.ids.length === 2);
    await eventually('more polls than changes', () => followed.polls > 4);
    followed.at = 10;
    await eventually('the end', () => events.ended);
    assert.deepEqual(events.ids, [0, 4, 10]);
    assert.deepEqual(events.names, ['progress', 'progress', 'end']);
  });

  it('leave out the last seen event, but never the end', async () => {
    const followed = newResource({ at: 4 });
    const events = reader(follow(open(), followed, { lastEventId: '4' }));
    await eventually('two polls', () => followed.polls >= 2);
    assert.deepEqual(events.ids, []);
    followed.at = 5;
    await eventually('a new event', () => events.ids.length === 1);
    assert.deepEqual(events.ids, [5]);
    followed.at = 10;
    await eventually('the end', () => events.ended);
    const again = reader(follow(open(), followed, { lastEventId: '10' }));
    await eventually('the end once more', () => again.ended);
    assert.deepEqual(again.names, ['end']);
  });

  it('buffer no events for a caller that reads slowly', async () => {
    const followed = newResource({ end: 1000 });
    const stream = follow(open(), followed);
    stream.read(0);
    for (; followed.at < 12; followed.at += 1) await pass(300);
    assert.ok(followed.polls <= 4, `${followed.polls} polls while nothing is read`);
    assert.ok(stream.readableLength < 4096, `${stream.readableLength} bytes are buffered`);
    followed.at = 1000;
    const events = reader(stream);
    await eventually('its end', () => events.ended);
    assert.equal(events.ids.at(-1), 1000);
    assert.ok(events.ids.length <= 5, `received ${events.ids}`);
  });

  it('are bounded for each account and in all, and make room when they end', async () => {
    const streams = open({ perOwner: 2, inAll: 3 });
    const mine = [follow(streams, newResource()), follow(streams, newResource())];
    assert.throws(() => follow(streams, newResource()), { code: 'TOO_MANY_WAITING', retryAfterSeconds: 5 });
    const other = follow(streams, newResource(), { accountId: 'other' });
    assert.throws(() => follow(streams, newResource(), { accountId: 'other' }), {
      code: 'UNAVAILABLE',
      retryAfterSeconds: 5,
    });
    other.destroy();
    await eventually('room again', () => other.closed);
    const third = reader(follow(streams, newResource({ end: 0 }), { accountId: 'third' }));
    await eventually('the end', () => third.ended);
    for (const stream of mine) stream.destroy();
    await eventually('both to be closed', () => mine.every(({ closed }) => closed));
    for (let i = 0; i < 2; i += 1) follow(streams, newResource()).destroy();
  });

  it('are evicted from the account with the most streams for an account with fewer', async () => {
    const streams = open({ perOwner: 2, inAll: 3 });
    const mine = [0, 1].map(() => follow(streams, newResource()));
    const events = mine.map(reader);
    const other = follow(streams, newResource(), { accountId: 'other' });
    const third = reader(follow(streams, newResource({ end: 0 }), { accountId: 'third' }));
    await eventually('the end', () => third.ended);
    assert.deepEqual(third.names, ['end']);
    assert.deepEqual(
      [...mine, other].map(({ destroyed }) => destroyed),
      [false, true, false],
    );
    await eventually('the first event of the first stream', () => events[0]!.ids.length === 1);
    for (const stream of [mine[0]!, other]) stream.destroy();
  });

  it('share one poll among all followers of a resource, and poll other resources separately', async () => {
    const streams = open();
    const [followed, another] = [newResource(), newResource()];
    const gate = Promise.withResolvers<void>();
    let begun = 0;
    const check = async () => {
      begun += 1;
      await gate.promise;
      return followed.check();
    };
    const openReader = () => reader(follow(streams, followed, { check }));
    const all = Array.from({ length: 15 }, openReader);
    const other = reader(follow(streams, another));
    await eventually('an event of the other resource', () => other.ids.length === 1);
    assert.equal(begun, 1);
    gate.resolve();
    await eventually('an event for each follower', () => all.every(({ ids }) => ids.length === 1));
    followed.at = 10;
    await eventually('the end of all streams', () => all.every(({ ended }) => ended));
    assert.ok(
      all.every(({ ids }) => ids.join() === '0,10'),
      'each follower gets each change once',
    );
    assert.equal(followed.polls, begun);
    assert.ok(begun < 15, `${begun} polls for fifteen followers`);
    streams.close();
  });

  it('poll less often while nothing changes, and soon once their group is notified', async () => {
    const streams = open();
    const followed = newResource();
    const events = reader(follow(streams, followed));
    // The time between two polls doubles, up to a second.
    const between: number[] = [];
    for (let polledAtMs = timers.nowMs(); between.length < 6; ) {
      const { polls } = followed;
      await eventually('the next poll', () => followed.polls > polls);
      between.push(timers.nowMs() - polledAtMs);
      polledAtMs = timers.nowMs();
    }
    assert.deepEqual(between.slice(2), [1000, 1000, 1000, 1000]);
    followed.at = 3;
    streams.notify('of another');
    const { polls } = followed;
    await pass(500);
    assert.equal(followed.polls, polls, 'another group has no effect');
    streams.notify(`of ${followed.name}`);
    await pass(500);
    assert.equal(events.ids.at(-1), 3);
    streams.close();
  });

  it('send a change without any notification', async () => {
    const streams = open();
    const followed = newResource();
    const events = reader(follow(streams, followed));
    await pass(60_000);
    followed.at = 3;
    await pass(1000);
    assert.equal(events.ids.at(-1), 3);
    streams.close();
  });

  it('poll again after a failed poll', async () => {
    const streams = open();
    const followed = newResource();
    let failing = true;
    const check = () =>
      failing ? Promise.reject(new Error('the database is unreachable')) : followed.check();
    const openStream = () => follow(streams, followed, { check });
    const [broken, kept] = [openStream(), openStream()];
    for (const stream of [broken, kept]) {
      const error = new Promise((resolve) => stream.once('error', resolve));
      stream.resume();
      assert.equal(((await error) as Error).message, 'the database is unreachable');
    }
    failing = false;
    const events = reader(openStream());
    await eventually('an event', () => events.ids.length === 1);
    streams.close();
  });

  it('stop polling when the caller disconnects', async () => {
    const followed = newResource();
    const stream = follow(open(), followed);
    const events = reader(stream);
    await eventually('the first event', () => events.ids.length === 1);
    stream.destroy();
    await eventually('the stream to be closed', () => stream.closed, 300);
    const { polls } = followed;
    await pass(1200);
    assert.equal(followed.polls, polls);
  });

  it('end without an `end` event when the process closes them, so that the caller reconnects', async () => {
    const streams = open();
    const events = Array.from({ length: 3 }, () => reader(follow(streams, newResource())));
    await eventually('the first event of each stream', () => events.every(({ ids }) => ids.length === 1));
    streams.close();
    // These ticks let no time pass, so the streams do not wait for the next poll.
    for (let ticks = 0; ticks < 20; ticks += 1) await nextTick();
    assert.ok(
      events.every(({ ended }) => ended),
      'all end at once',
    );
    assert.deepEqual(new Set(events.flatMap(({ names }) => names)), new Set(['progress']));
    const late = reader(follow(streams, newResource()));
    await eventually('the end of a stream that is opened later', () => late.ended);
  });
});
