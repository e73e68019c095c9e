import assert from 'node:assert/strict';
import { forCaller, withoutCaller } from '../../../src/infra/async/caller-scope.ts';
import { DatabaseSilent } from '../../../src/infra/store/database-away.ts';
import { ResponseWatch } from '../../../src/infra/store/response-watch.ts';
import { ManualTimers } from '../../support/manual-timers.ts';

/** A database that responds when the test says so. */
class Database {
  readonly #waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  received = 0;

  readonly operation = () => {
    this.received += 1;
    return new Promise<void>((resolve, reject) => this.#waiting.push({ resolve, reject }));
  };

  respond(): void {
    this.respondToAllBut(0);
  }

  /** @param first how many of the first get no response. */
  respondToAllBut(first: number): void {
    for (const { resolve } of this.#waiting.splice(first)) resolve();
  }

  /** The driver ends every operation. */
  breakConnections(): void {
    const lost = Object.assign(new Error('connection timed out'), { name: 'MongoNetworkTimeoutError' });
    for (const { reject } of this.#waiting.splice(0)) reject(lost);
  }
}

describe('The watch over the responses of a database', () => {
  let timers: ManualTimers;
  let database: Database;
  let watch: ResponseWatch;
  let changes: boolean[];
  let pings: number;

  beforeEach(() => {
    timers = new ManualTimers();
    database = new Database();
    changes = [];
    pings = 0;
    const ping = () => {
      pings += 1;
      return database.operation();
    };
    watch = new ResponseWatch(ping, { timers, onChange: (silent) => changes.push(silent) });
  });

  /** The outcome of an operation of a request; undefined while there is none. */
  function asCaller(): { outcome: unknown } {
    const asked: { outcome: unknown } = { outcome: undefined };
    forCaller(() => watch.run(database.operation)).then(
      () => Object.assign(asked, { outcome: 'done' }),
      (error: unknown) => Object.assign(asked, { outcome: error }),
    );
    return asked;
  }

  it('ends the waits of callers after 3.5 s without any response, and rejects later ones at once', async () => {
    const first = asCaller();
    await timers.pass(2000);
    const second = asCaller();
    await timers.pass(1250);
    assert.deepEqual([first.outcome, second.outcome, watch.silent], [undefined, undefined, false]);
    await timers.pass(250);
    assert.ok(first.outcome instanceof DatabaseSilent);
    assert.ok(second.outcome instanceof DatabaseSilent);
    const { received } = database;
    const later = Array.from({ length: 1000 }, asCaller);
    await timers.pass(0);
    assert.ok(later.every(({ outcome }) => outcome instanceof DatabaseSilent));
    assert.equal(database.received, received, 'nothing more is sent to the database');
    await timers.pass(600_000);
    // Two of callers, and a ping.
    assert.equal(watch.pending, 3, 'nothing piles up');
    assert.deepEqual(changes, [true]);
  });

  it('lets operations wait whose result no caller waits for', async () => {
    let ended = false;
    watch.run(database.operation).then(() => {
      ended = true;
    });
    const left = { outcome: undefined as unknown };
    await forCaller(async () => {
      withoutCaller(() => watch.run(database.operation)).then(() => Object.assign(left, { outcome: 'done' }));
    });
    await timers.pass(30_000);
    assert.deepEqual([ended, left.outcome, watch.silent], [false, undefined, true]);
    database.respond();
    await timers.pass(0);
    assert.deepEqual([ended, left.outcome, watch.silent], [true, 'done', false]);
  });

  it('lets operations wait that a request has left behind', async () => {
    let go = () => {};
    const ended = new Promise<void>((resolve) => {
      go = resolve;
    });
    let outcome: unknown;
    await forCaller(async () => {
      ended
        .then(() => watch.run(database.operation))
        .then(
          () => {
            outcome = 'done';
          },
          (error: unknown) => {
            outcome = error;
          },
        );
    });
    go();
    await timers.pass(10_000);
    assert.deepEqual([outcome, watch.silent], [undefined, true]);
    database.respond();
    await timers.pass(0);
    assert.equal(outcome, 'done');
  });

  it('counts a long operation as no silence while the database responds to pings', async () => {
    const long = asCaller();
    for (let seconds = 0; seconds < 60; seconds += 1) {
      await timers.pass(1000);
      database.respondToAllBut(1);
    }
    assert.deepEqual([long.outcome, watch.silent], [undefined, false]);
    assert.ok(pings > 10);
    database.respond();
    await timers.pass(0);
    assert.equal(long.outcome, 'done');
  });

  it('serves callers again at the first response, also after the driver has closed its connections', async () => {
    const first = asCaller();
    await timers.pass(3500);
    assert.ok(first.outcome instanceof DatabaseSilent);
    database.breakConnections();
    await timers.pass(1000);
    assert.equal(watch.silent, true, 'an error of the driver is no response');
    assert.equal(watch.pending, 1, 'a new ping');
    database.respond();
    await timers.pass(0);
    assert.deepEqual([watch.silent, changes], [false, [true, false]]);
    const second = asCaller();
    database.respond();
    await timers.pass(0);
    assert.equal(second.outcome, 'done');
  });

  it('counts an error that the database responds with as a response', async () => {
    const refused = Object.assign(new Error('E11000 duplicate key'), { name: 'MongoServerError' });
    const long = asCaller();
    for (let seconds = 0; seconds < 10; seconds += 1) {
      await timers.pass(1000);
      await assert.rejects(
        watch.run(async () => Promise.reject(refused)),
        refused,
      );
    }
    assert.deepEqual([long.outcome, watch.silent], [undefined, false]);
  });

  it('does not count the time during which the process itself was suspended', async () => {
    const first = asCaller();
    await timers.pass(250);
    timers.freeze(3_600_000);
    await timers.pass(250);
    assert.deepEqual([first.outcome, watch.silent], [undefined, false]);
    database.respond();
    await timers.pass(0);
    assert.equal(first.outcome, 'done');
  });

  it('checks nothing while nothing waits', async () => {
    const first = asCaller();
    database.respond();
    await timers.pass(3_600_000);
    assert.deepEqual([first.outcome, pings, watch.pending, changes], ['done', 0, 0, []]);
  });

  it('sends one ping at a time, which all share', async () => {
    const sharing = [watch.ping(), watch.ping(), watch.ping()];
    assert.equal(pings, 1);
    database.respond();
    await Promise.all(sharing);
    const next = watch.ping();
    assert.equal(pings, 2);
    database.respond();
    await next;
  });
});
