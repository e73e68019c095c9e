import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { EventStreams, type Snapshot } from '../../../src/http/event-stream.ts';
import { ManualTimers } from '../../support/manual-timers.ts';

let things = 0;

/** Something that is followed: it is at a number, up to its end. */
function thing(overrides: { at?: number; end?: number } = {}) {
  things += 1;
  return {
    name: `thing-${things}`,
    at: overrides.at ?? 0,
    end: overrides.end ?? 10,
    looks: 0,
    async look(): Promise<Snapshot> {
      this.looks += 1;
      return { id: `${this.at}`, data: { at: this.at, filler: 'x'.repeat(600) }, last: this.at >= this.end };
    },
  };
}

/** What a stream has brought so far, event by event. */
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

describe('streams of events', () => {
  let timers: ManualTimers;
  beforeEach(() => {
    timers = new ManualTimers();
  });

  /** Lets so much time pass, and what comes of it reach who reads. */
  async function pass(ms: number): Promise<void> {
    for (const untilMs = timers.nowMs() + ms; timers.nowMs() < untilMs; ) {
      await timers.pass(Math.min(50, untilMs - timers.nowMs()));
      for (let turns = 0; turns < 5; turns += 1) await turn();
    }
  }

  /** Lets time pass until it holds, ten seconds at most unless told otherwise. */
  async function eventually(what: string, holds: () => boolean, limitMs = 10_000): Promise<void> {
    for (const untilMs = timers.nowMs() + limitMs; !holds(); await pass(50))
      assert.ok(timers.nowMs() < untilMs, `not within ${limitMs} ms: ${what}`);
  }

  const open = (limits?: { perAccount: number; inAll: number }) => new EventStreams(limits, timers);

  const follow = (
    streams: EventStreams,
    what: ReturnType<typeof thing>,
    {
      accountId = 'account',
      lastEventId,
      look = () => what.look(),
    }: { accountId?: string; lastEventId?: string; look?: () => Promise<Snapshot> } = {},
  ) => streams.follow({ accountId, thing: what.name, group: `of ${what.name}`, lastEventId, look });

  it('tell each change once, then the end, and close', async () => {
    const followed = thing();
    const events = reader(follow(open(), followed));
    await eventually('it has begun', () => events.ids.length === 1);
    followed.at = 4;
    await eventually('a change', () => events.ids.length === 2);
    await eventually('more looks than changes', () => followed.looks > 4);
    followed.at = 10;
    await eventually('its end', () => events.ended);
    assert.deepEqual(events.ids, [0, 4, 10]);
    assert.deepEqual(events.names, ['progress', 'progress', 'end']);
  });

  it('leave out what was seen, but never the end', async () => {
    const followed = thing({ at: 4 });
    const events = reader(follow(open(), followed, { lastEventId: '4' }));
    await eventually('looked', () => followed.looks >= 2);
    assert.deepEqual(events.ids, []);
    followed.at = 5;
    await eventually('what is new', () => events.ids.length === 1);
    assert.deepEqual(events.ids, [5]);
    followed.at = 10;
    await eventually('its end', () => events.ended);
    const again = reader(follow(open(), followed, { lastEventId: '10' }));
    await eventually('the end once more', () => again.ended);
    assert.deepEqual(again.names, ['end']);
  });

  it('gather nothing for a caller who reads slowly', async () => {
    const followed = thing({ end: 1000 });
    const stream = follow(open(), followed);
    stream.read(0);
    for (; followed.at < 12; followed.at += 1) await pass(300);
    assert.ok(followed.looks <= 4, `${followed.looks} looks, and nobody reads`);
    assert.ok(stream.readableLength < 4096, `${stream.readableLength} bytes wait`);
    followed.at = 1000;
    const events = reader(stream);
    await eventually('its end', () => events.ended);
    assert.equal(events.ids.at(-1), 1000);
    assert.ok(events.ids.length <= 5, `it is told ${events.ids}`);
  });

  it('are bounded for each account and in all; one that is over makes room', async () => {
    const streams = open({ perAccount: 2, inAll: 3 });
    const mine = [follow(streams, thing()), follow(streams, thing())];
    assert.throws(() => follow(streams, thing()), { code: 'TOO_MANY_WAITING', retryAfterSeconds: 5 });
    const other = follow(streams, thing(), { accountId: 'other' });
    assert.throws(() => follow(streams, thing(), { accountId: 'other' }), {
      code: 'UNAVAILABLE',
      retryAfterSeconds: 5,
    });
    other.destroy();
    const ending = thing({ end: 0 });
    await eventually('room again', () => other.closed);
    const third = reader(follow(streams, ending, { accountId: 'third' }));
    await eventually('the end', () => third.ended);
    for (const stream of mine) stream.destroy();
    await eventually('both are over', () => mine.every(({ closed }) => closed));
    for (let i = 0; i < 2; i += 1) follow(streams, thing()).destroy();
  });

  it('are closed to whoever has most when somebody with fewer comes', async () => {
    const streams = open({ perAccount: 2, inAll: 3 });
    const mine = [0, 1].map(() => follow(streams, thing()));
    const events = mine.map(reader);
    const other = follow(streams, thing(), { accountId: 'other' });
    const third = reader(follow(streams, thing({ end: 0 }), { accountId: 'third' }));
    await eventually('its end', () => third.ended);
    assert.deepEqual(third.names, ['end']);
    assert.deepEqual(
      [...mine, other].map(({ destroyed }) => destroyed),
      [false, true, false],
    );
    await eventually('the first is told how things stand', () => events[0]!.ids.length === 1);
    for (const stream of [mine[0]!, other]) stream.destroy();
  });

  it('look once for all who follow the same thing, and apart for those who follow another', async () => {
    const streams = open();
    const [followed, another] = [thing(), thing()];
    const gate = Promise.withResolvers<void>();
    let begun = 0;
    const look = async () => {
      begun += 1;
      await gate.promise;
      return followed.look();
    };
    const openReader = () => reader(follow(streams, followed, { look }));
    const all = Array.from({ length: 15 }, openReader);
    const other = reader(follow(streams, another));
    await eventually('the other is told', () => other.ids.length === 1);
    assert.equal(begun, 1);
    gate.resolve();
    await eventually('all are told', () => all.every(({ ids }) => ids.length === 1));
    followed.at = 10;
    await eventually('the end of all', () => all.every(({ ended }) => ended));
    assert.ok(
      all.every(({ ids }) => ids.join() === '0,10'),
      'each is told each change once',
    );
    assert.equal(followed.looks, begun);
    assert.ok(begun < 15, `${begun} looks for fifteen followers`);
    streams.close();
  });

  it('look less often while nothing happens, and soon once something has', async () => {
    const streams = open();
    const followed = thing();
    const events = reader(follow(streams, followed));
    // Between two looks the time doubles, up to four seconds.
    const between: number[] = [];
    for (let lookedAtMs = timers.nowMs(); between.length < 6; ) {
      const looks = followed.looks;
      await eventually('the next look', () => followed.looks > looks);
      between.push(timers.nowMs() - lookedAtMs);
      lookedAtMs = timers.nowMs();
    }
    assert.deepEqual(between.slice(2), [1000, 2000, 4000, 4000]);
    followed.at = 3;
    streams.happened('of another');
    const { looks } = followed;
    await pass(1000);
    assert.equal(followed.looks, looks, 'what happens elsewhere is nothing to it');
    streams.happened(`of ${followed.name}`);
    await pass(500);
    assert.equal(events.ids.at(-1), 3);
    streams.close();
  });

  it('see also what nobody says has happened', async () => {
    const streams = open();
    const followed = thing();
    const events = reader(follow(streams, followed));
    await pass(60_000);
    followed.at = 3;
    await pass(4000);
    assert.equal(events.ids.at(-1), 3);
    streams.close();
  });

  it('look anew after a look that failed', async () => {
    const streams = open();
    const followed = thing();
    let failing = true;
    const look = () => (failing ? Promise.reject(new Error('the database is away')) : followed.look());
    const openStream = () => follow(streams, followed, { look });
    const [broken, kept] = [openStream(), openStream()];
    for (const stream of [broken, kept]) {
      const error = new Promise((resolve) => stream.once('error', resolve));
      stream.resume();
      assert.equal(((await error) as Error).message, 'the database is away');
    }
    failing = false;
    const events = reader(openStream());
    await eventually('it is told', () => events.ids.length === 1);
    streams.close();
  });

  it('look no more when the caller is gone', async () => {
    const followed = thing();
    const stream = follow(open(), followed);
    const events = reader(stream);
    await eventually('it has begun', () => events.ids.length === 1);
    stream.destroy();
    await eventually('it is over', () => stream.closed, 300);
    const { looks } = followed;
    await pass(1200);
    assert.equal(followed.looks, looks);
  });

  it('end without an end when they are closed, so that the caller comes back', async () => {
    const streams = open();
    const events = Array.from({ length: 3 }, () => reader(follow(streams, thing())));
    await eventually('all have begun', () => events.every(({ ids }) => ids.length === 1));
    streams.close();
    // Without any of the time between two looks, which these turns do not wait for.
    for (let turns = 0; turns < 20; turns += 1) await turn();
    assert.ok(
      events.every(({ ended }) => ended),
      'all are over at once',
    );
    assert.deepEqual(new Set(events.flatMap(({ names }) => names)), new Set(['progress']));
    const late = reader(follow(streams, thing()));
    await eventually('one that comes too late is over, too', () => late.ended);
  });
});
