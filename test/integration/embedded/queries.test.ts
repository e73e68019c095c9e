import assert from 'node:assert/strict';
import mongoose from 'mongoose';
import { documentsRead } from '../../support/documents-read.ts';
import { startMongo } from '../../support/mongo.ts';

interface Item {
  _id: string;
  version: number;
  state: string;
  n: number;
}

const MANY = 50_000;

/** What Platen's storage rules rely on, on whichever embedded database this machine has. */
describe('Queries on the embedded database', () => {
  let connection: mongoose.Connection;

  before(async () => {
    connection = await mongoose.createConnection((await startMongo()).uri, { maxPoolSize: 50 }).asPromise();
  });

  after(() => connection.close());

  describe(`with ${MANY} documents`, () => {
    let items: mongoose.mongo.Collection<Item>;

    before(async () => {
      items = connection.collection<Item>('items');
      await items.createIndex({ _id: 1, version: 1 }, { unique: true });
      for (let start = 0; start < MANY; start += 5000) {
        const batch = Array.from({ length: 5000 }, (_, i) => item(start + i));
        await items.insertMany(batch, { ordered: false });
      }
    });

    it('a scan reads all of them, and that is counted', async () => {
      assert.equal(await documentsRead(connection, () => items.countDocuments({ n: -1 })), MANY);
    });

    it('compare-and-set by _id and version reads what it changes', async () => {
      let n = 0;
      const read = await documentsRead(connection, async () => {
        n += 331;
        const changed = await items.findOneAndUpdate(
          { _id: `item-${n}`, version: 1 },
          { $set: { state: 'taken' }, $inc: { version: 1 } },
          { returnDocument: 'after' },
        );
        assert.equal(changed?.version, 2);
      });
      assert.equal(read, 1);
    });

    it('compare-and-set misses without a scan, and changes nothing', async () => {
      const read = await documentsRead(connection, async () => {
        const changed = await items.findOneAndUpdate(
          { _id: 'item-7', version: 99 },
          { $set: { state: 'taken' } },
        );
        assert.equal(changed, null);
      });
      assert.equal((await items.findOne({ _id: 'item-7' }))?.state, 'queued');
      assert.ok(read <= 1, `${read} documents`);
    });

    it('a query by _id and more does not scan either', async () => {
      const read = await documentsRead(connection, async () => {
        assert.equal(await items.findOne({ _id: 'item-8', state: 'queued', n: { $lt: 5 } }), null);
        assert.ok(await items.findOne({ _id: 'item-8', state: 'queued', n: { $lt: 9 } }));
      });
      assert.equal(read, 2);
    });

    it('deletes and inserts many by _id without a scan for each', async () => {
      const batch = Array.from({ length: 500 }, (_, i) => item(20_000 + i));
      const ids = batch.map(({ _id }) => _id);
      const read = await documentsRead(connection, async () => {
        assert.equal((await items.deleteMany({ _id: { $in: ids } })).deletedCount, 500);
        assert.equal((await items.insertMany(batch, { ordered: false })).insertedCount, 500);
      });
      assert.equal(read, 500);
    });

    it('finds in order, a page at a time', async () => {
      const page = await items
        .find({ state: 'queued', n: { $gte: 100 } })
        .sort({ n: -1 })
        .skip(10)
        .limit(3)
        .toArray();
      assert.deepEqual(
        page.map(({ n }) => n),
        [MANY - 11, MANY - 12, MANY - 13],
      );
    });

    it('keeps equal records in the same order, whatever page is requested', async () => {
      const shades = connection.collection<{ _id: number; shade: number }>('shades');
      await shades.insertMany(Array.from({ length: 300 }, (_, i) => ({ _id: i, shade: i % 3 })));
      const whole = (await shades.find({}).sort({ shade: -1 }).toArray()).map(({ _id }) => _id);
      assert.deepEqual(whole.slice(0, 3), [2, 5, 8]);
      for (const [skip, limit] of [
        [0, 1],
        [95, 20],
        [290, 50],
        [400, 5],
      ] as const) {
        const part = await shades.find({}).sort({ shade: -1 }).skip(skip).limit(limit).toArray();
        assert.deepEqual(
          part.map(({ _id }) => _id),
          whole.slice(skip, skip + limit),
        );
      }
    });

    it('finds the first in order among more than its memory holds', async () => {
      const large = connection.collection<{ _id: number; bytes: Buffer }>('large');
      const bytes = Buffer.alloc(1024 * 1024, 1);
      for (let i = 0; i < 600; i += 1) await large.insertOne({ _id: i, bytes });
      const page = await large
        .find({}, { projection: { _id: 1 } })
        .sort({ _id: -1 })
        .limit(2)
        .toArray();
      assert.deepEqual(
        page.map(({ _id }) => _id),
        [599, 598],
      );
      await large.drop();
    });
  });

  it('of 200 that race for one change, one succeeds', async () => {
    const items = connection.collection<Item>('raced');
    await items.createIndex({ _id: 1, version: 1 }, { unique: true });
    await items.insertOne(item(1));
    const responses = await Promise.all(
      Array.from({ length: 200 }, () =>
        items.findOneAndUpdate({ _id: 'item-1', version: 1 }, { $inc: { version: 1 } }),
      ),
    );
    assert.equal(responses.filter((response) => response !== null).length, 1);
    assert.equal((await items.findOne({ _id: 'item-1' }))?.version, 2);
  });

  it('of 200 that race for 10 slots, 10 succeed and the others meet the key', async () => {
    const slots = connection.collection<{ _id: string; inFlight: number }>('slots');
    const responses = await Promise.allSettled(
      Array.from({ length: 200 }, () =>
        slots.findOneAndUpdate(
          { _id: 'account', inFlight: { $lt: 10 } },
          { $inc: { inFlight: 1 } },
          { upsert: true },
        ),
      ),
    );
    const refused = responses.filter((response) => response.status === 'rejected');
    assert.equal(refused.length, 190);
    assert.deepEqual([...new Set(refused.map(({ reason }) => (reason as { code: number }).code))], [11000]);
    assert.equal((await slots.findOne({ _id: 'account' }))?.inFlight, 10);
  });

  it('keeps every type of value as it was', async () => {
    const { Binary, Decimal128, Long, ObjectId } = mongoose.mongo;
    const values = {
      _id: new ObjectId(),
      date: new Date(1_700_000_000_123),
      nothing: null,
      yes: true,
      whole: 42,
      large: Long.fromString('9007199254740993'),
      fraction: 0.1,
      exact: Decimal128.fromString('1.10'),
      bytes: new Binary(Buffer.from([0, 1, 255])),
      text: 'grüße 你好 \u{1f600}',
      nested: { list: [1, 'two', { three: 3 }, []], empty: {} },
    };
    await connection.collection('types').insertOne(values);
    const read = await connection
      .collection('types')
      .findOne({ _id: values._id }, { promoteLongs: false, promoteValues: true });
    assert.deepEqual(JSON.parse(JSON.stringify(read)), JSON.parse(JSON.stringify(values)));
  });
});

function item(n: number): Item {
  return { _id: `item-${n}`, version: 1, state: 'queued', n };
}
