import assert from 'node:assert/strict';
import type { Connection } from 'mongoose';
import { pino } from 'pino';
import { Collection, type CollectionSpec } from '../../../src/infra/store/collection.ts';
import { ensureIndexes } from '../../../src/infra/store/collection-spec.ts';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { UnindexedQuery } from '../../../src/infra/store/query-guard.ts';
import { startMongo } from '../../support/mongo.ts';

interface Thing {
  readonly _id: string;
  readonly owner: string;
  readonly at: number;
  readonly kind?: string;
  readonly serial?: string;
  readonly counts?: Readonly<Record<string, number>>;
  readonly list?: readonly number[];
}

const THINGS: CollectionSpec = {
  name: 'things',
  account: { none: 'a test has none' },
  indexes: [{ fields: { owner: 1, at: -1 } }, { fields: { serial: 1 }, unique: true, sparse: true }],
  filtersBy: { fields: ['kind', 'sort kind'], reason: 'an owner has few' },
  scans: { '{list:other}': 'a test has few', '{} sort _id': 'a test has few' },
};

const RACES = 1000;
/** Writers of one record at the same moment. */
const WRITERS = 4;

describe('A collection', () => {
  let connection: Connection;
  /** Two processes have a connection each. */
  let other: Connection;
  let things: Collection<Thing>;
  let elsewhere: Collection<Thing>;

  before(async () => {
    const { uri } = await startMongo();
    const logger = pino({ level: 'silent' });
    [connection, other] = [await connectDatabase(uri, logger), await connectDatabase(uri, logger)];
    things = new Collection(connection, THINGS);
    elsewhere = new Collection(other, THINGS);
    await ensureIndexes(connection);
    await ensureIndexes(other);
  });
  after(async () => {
    await connection.close();
    await other.close();
  });
  beforeEach(async () => {
    await things.deleteMany({ _id: { $gt: '' } });
  });

  const fill = () =>
    things.insertAll(
      [1, 2, 3, 4].map((at) => ({ _id: `t${at}`, owner: at < 4 ? 'ada' : 'grace', at, kind: `k${at % 2}` })),
    );

  it('is declared once over a connection', () => {
    assert.throws(() => new Collection(connection, { ...THINGS }), /things is declared twice/);
    new Collection(connection, THINGS);
  });

  it('has the indexes that are declared', async () => {
    const indexes = await connection.collection('things').indexes();
    assert.deepEqual(indexes.map(({ key }) => Object.keys(key).join()).sort(), ['_id', 'owner,at', 'serial']);
    assert.equal(await things.insertIfAbsent({ _id: 'a', owner: 'ada', at: 1, serial: 's' }), true);
    assert.equal(await things.insertIfAbsent({ _id: 'b', owner: 'ada', at: 1, serial: 's' }), false);
    await things.insertAll([
      { _id: 'c', owner: 'ada', at: 1 },
      { _id: 'd', owner: 'ada', at: 1 },
    ]);
  });

  it('rejects every kind of query that no index serves, before it is sent', async () => {
    await fill();
    const unled = { at: { $gt: 0 } };
    const stray = { owner: 'ada', serial: { $ne: 's' } };
    const change = { $set: { kind: 'changed' } };
    for (const filter of [unled, stray, { $or: [{ _id: 't1' }] }, {}]) {
      for (const ask of [
        () => things.findOne(filter),
        () => things.find(filter),
        () => things.count(filter),
        () => things.updateOne(filter, change),
        () => things.updateMany(filter, change),
        () => things.findOneAndUpdate(filter, change),
        () => things.upsertMatching(filter, change),
        () => things.deleteOne(filter),
        () => things.deleteMany(filter),
        () => things.aggregate(filter, [{ $count: 'all' }]),
      ]) {
        await assert.rejects(ask, UnindexedQuery, `${ask} ${JSON.stringify(filter)}`);
      }
    }
    await assert.rejects(things.find({ owner: 'ada' }, { sort: { serial: 1 } }), {
      name: 'UnindexedQuery',
      message: /^Query of things: \{owner\} sort serial: not in its index: sort serial\./,
    });
    assert.equal((await things.find({ owner: 'ada', kind: 'changed' })).length, 0);
    assert.equal((await things.find({}, { sort: { _id: 1 } })).length, 4);
  });

  it('allows what is declared, again and again', async () => {
    await fill();
    for (let i = 0; i < 3; i += 1) {
      assert.equal((await things.find({ owner: 'ada', kind: 'k1' })).length, 2);
      const sorted = await things.find({ owner: 'ada' }, { sort: { kind: 1 }, limit: 1 });
      assert.deepEqual(
        sorted.map(({ _id }) => _id),
        ['t2'],
      );
      assert.equal((await things.find({ list: { $exists: true } })).length, 0);
      await assert.rejects(things.find({ list: { $exists: true }, kind: 'k1' }), UnindexedQuery);
    }
  });

  it('finds in order, a part of it, and the fields that are wanted', async () => {
    await fill();
    const page = await things.find(
      { owner: 'ada' },
      { sort: { at: -1 }, skip: 1, limit: 1, projection: { owner: 0 } },
    );
    assert.deepEqual(page, [{ _id: 't2', at: 2, kind: 'k0' }]);
    assert.deepEqual(await things.findById('t4', { at: 1 }), { _id: 't4', at: 4 });
    assert.equal(await things.findById('none'), undefined);
    assert.equal((await things.findOne({ owner: 'ada' }, { sort: { at: 1 } }))?._id, 't1');
    assert.deepEqual(
      await things.aggregate({ owner: 'ada' }, [{ $group: { _id: null, sum: { $sum: '$at' } } }]),
      [{ _id: null, sum: 6 }],
    );
    assert.equal(await things.count({ owner: 'ada', at: { $gt: 1 } }), 2);
    assert.equal(await things.estimatedCount(), 4);
  });

  it('reports which records were changed and deleted', async () => {
    await fill();
    assert.equal(await things.updateOne({ _id: 't1', at: 1 }, { $set: { kind: 'k0' } }), true);
    assert.equal(await things.updateOne({ _id: 't1', at: 2 }, { $set: { kind: 'x' } }), false);
    assert.equal(await things.updateMany({ owner: 'ada' }, { $inc: { 'counts.seen': 2 } }), 3);
    const after = await things.findOneAndUpdate({ _id: 't1' }, { $push: { list: { $each: [1, 2] } } });
    assert.deepEqual(after, {
      _id: 't1',
      owner: 'ada',
      at: 1,
      kind: 'k0',
      counts: { seen: 2 },
      list: [1, 2],
    });
    await things.updateAll([
      { id: 't1', update: { $max: { at: 9 } } },
      { id: 'none', update: { $set: { at: 1 } } },
    ]);
    assert.equal((await things.findById('t1'))?.at, 9);
    assert.equal(await things.findById('none'), undefined);
    assert.equal(await things.deleteOne({ _id: 't1' }), true);
    assert.equal(await things.deleteOne({ _id: 't1' }), false);
    assert.equal(await things.deleteMany({ owner: 'ada', at: { $lt: 3 } }), 1);
  });

  it('inserts the records that do not exist yet, and rejects no other', async () => {
    const record = (n: number): Thing => ({ _id: `t${n}`, owner: 'ada', at: n });
    await things.insertAbsent([record(1), record(3)]);
    await things.insertAbsent([0, 1, 2, 3, 4].map(record));
    await things.insertAbsent([]);
    assert.equal(await things.count({ owner: 'ada' }), 5);
    await assert.rejects(things.insertAll([record(9), record(1)]), { code: 11000 });
    assert.equal((await things.findById('t9'))?.at, 9);
  });

  it(`counts every upsert of one id, of ${WRITERS} at the same moment, ${RACES} times`, async () => {
    const add = { $inc: { 'counts.n': 1 }, $setOnInsert: { owner: 'ada', at: 1 } };
    await races(async (id) => {
      const responses = await Promise.all(writers().map((at) => at.upsert(id, add)));
      const seen = responses.map(({ counts }) => counts?.n ?? 0).sort();
      assert.deepEqual(seen, [1, 2, 3, 4]);
    });
  });

  it(`counts every one of upserts sent together, ${RACES} times`, async () => {
    await races(async (id) => {
      const ids = [`${id}-a`, `${id}-b`, `${id}-c`];
      const changes = ids.map((each) => ({
        id: each,
        update: { $inc: { 'counts.n': 1 }, $setOnInsert: { owner: 'ada', at: 1 } },
      }));
      await Promise.all(writers().map((at) => at.upsertAll(changes)));
      const found = await things.find({ _id: { $in: ids } });
      assert.deepEqual(
        found.map(({ counts }) => counts?.n),
        [4, 4, 4],
      );
    });
  });

  it(`applies as many upserts as their filter allows, of ${WRITERS} at the same moment, ${RACES} times`, async () => {
    const mayMatch = 2;
    await races(async (id) => {
      const take = { $inc: { 'counts.n': 1 }, $setOnInsert: { owner: 'ada', at: 1 } };
      const free = { _id: id, $and: [{ 'counts.n': { $not: { $gte: mayMatch } } }] };
      const responses = await Promise.all(writers().map((at) => at.upsertMatching(free, take)));
      const taken = responses.filter((response) => response !== undefined).length;
      assert.equal(taken, mayMatch);
      assert.equal((await things.findById(id))?.counts?.n, mayMatch);
    });
  });

  function writers(): Collection<Thing>[] {
    return Array.from({ length: WRITERS }, (_, i) => (i % 2 === 0 ? things : elsewhere));
  }

  async function races(run: (id: string) => Promise<void>): Promise<void> {
    for (let n = 0; n < RACES; n += 10) {
      await Promise.all(Array.from({ length: 10 }, (_, i) => run(`race-${n + i}`)));
    }
  }
});
