import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mongoose from 'mongoose';
import { pino } from 'pino';
import { startEmbeddedDatabase } from '../../../src/infra/embedded-database/start-embedded.ts';
import { documentsRead } from '../../support/documents-read.ts';
import { startMongo } from '../../support/mongo.ts';

interface Row {
  _id: string;
  owner: string;
  state: string;
  at: Date;
  size?: number | null;
}

type Rows = mongoose.mongo.Collection<Row>;
type Query = mongoose.mongo.Filter<Row>;
type Order = Record<string, 1 | -1>;

const ROUNDS = 60;
const QUERIES = 20;
const MANY = 20_000;
const OWN = 40;

/** What the store relies on for lists of an account, on whichever embedded database this machine has. */
describe('A part of a unique index on the embedded database', () => {
  let connection: mongoose.Connection;

  before(async () => {
    connection = await mongoose.createConnection((await startMongo()).uri).asPromise();
  });
  after(() => connection.close());

  async function indexed(rows: Rows): Promise<Rows> {
    await rows.createIndex({ owner: 1, at: 1, _id: 1 }, { unique: true });
    await rows.createIndex({ owner: 1, state: 1, at: 1, _id: 1 }, { unique: true });
    await rows.createIndex({ owner: 1, size: 1, at: 1, _id: 1 }, { unique: true });
    await rows.createIndex({ at: 1, _id: 1 }, { unique: true });
    return rows;
  }

  it('holds what reading everything finds, whatever is asked, written, changed and deleted', async () => {
    const plain = connection.collection<Row>('plain_rows');
    const led = await indexed(connection.collection<Row>('indexed_rows'));
    const random = generator(4711);
    const pick = <T>(some: readonly T[]): T => some[Math.floor(random() * some.length)]!;
    const owners = ['a', 'b', 'ab', 'ä', ''];
    const states = ['done', 'open'];
    const at = () => new Date(1_700_000_000_000 + Math.floor(random() * 20) * 1000);
    const made: number[] = [];
    const row = (): Row => ({
      _id: `row-${made.push(made.length) - 1}`,
      owner: pick(owners),
      state: pick(states),
      at: at(),
      ...(random() < 0.5 && { size: Math.floor(random() * 3) }),
    });
    const filter = (): Query => {
      const query: Query = random() < 0.8 ? { owner: pick(owners) } : {};
      if (random() < 0.5) query.state = random() < 0.8 ? pick(states) : { $in: ['open', 'lost'] };
      if (random() < 0.5) {
        const [low, high] = [at(), at()].sort((one, other) => one.getTime() - other.getTime());
        query.at = pick([
          { $gte: low },
          { $gt: low },
          { $lt: high },
          { $gt: low, $lte: high },
          { $lte: low },
        ]);
      }
      if (random() < 0.4) query.size = pick([1, 2, null, { $exists: false }, { $gte: 1 }]) as Query['size'];
      if (random() < 0.2) query._id = { $nin: Array.from({ length: 3 }, () => `row-${pick(made)}`) };
      return query;
    };
    const orders: Order[] = [
      { at: 1, _id: 1 },
      { at: -1, _id: -1 },
      { at: -1, _id: 1 },
      { state: 1, at: -1, _id: 1 },
      { _id: -1 },
    ];
    for (let round = 0; round < ROUNDS; round += 1) {
      const rows = Array.from({ length: 20 }, row);
      const change = filter();
      const gone = filter();
      const set = { $set: { state: pick(states), at: at() } };
      for (const each of [plain, led]) {
        await each.insertMany(rows);
        // One by one, so that both change the same ones.
        for (const { _id } of await each.find(change).sort({ _id: 1 }).limit(5).toArray())
          await each.updateOne({ _id }, set);
        const first = await each.findOneAndUpdate(
          { ...gone, _id: `row-${made.length - 1}` },
          { $inc: { size: 1 } },
        );
        await each.deleteMany({ ...gone, at: { $lt: first?.at ?? new Date(1_700_000_003_000) } });
      }
      for (let n = 0; n < QUERIES; n += 1) {
        const query = filter();
        const [order, skip, limit] = [pick(orders), pick([0, 0, 3]), pick([0, 1, 7])];
        const [expected, found] = await Promise.all(
          [plain, led].map((each) => each.find(query).sort(order).skip(skip).limit(limit).toArray()),
        );
        assert.deepEqual(found, expected, JSON.stringify({ query, order, skip, limit }));
        const counts = await Promise.all([
          plain.countDocuments(query),
          led.count(query),
          led.countDocuments(query),
          led
            .find(query, { projection: { _id: 1 } })
            .toArray()
            .then(({ length }) => length),
        ]);
        assert.deepEqual(new Set(counts).size, 1, `${JSON.stringify(query)}: ${counts}`);
      }
    }
    assert.ok((await plain.countDocuments({})) > 100, 'some are left');
  });

  it(`is read without the other ${MANY}, forwards, backwards, between two times, and counted`, async () => {
    const rows = await indexed(connection.collection<Row>('many_rows'));
    const at = (n: number) => new Date(1_700_000_000_000 + n * 1000);
    for (let from = 0; from < MANY; from += 5000) {
      const some = Array.from({ length: 5000 }, (_, i) => from + i);
      await rows.insertMany(
        some.map((n) => ({ _id: `m-${n}`, owner: 'many', state: n % 2 ? 'done' : 'open', at: at(n) })),
      );
    }
    const own = Array.from({ length: OWN }, (_, n) => ({
      _id: `o-${n}`,
      owner: 'own',
      state: 'done',
      at: at(n),
    }));
    await rows.insertMany(own);
    assert.ok((await documentsRead(connection, () => rows.countDocuments({ state: 'lost' }))) >= MANY);
    const ids = (n: number) => `m-${n}`;
    const checks: [what: string, ask: () => Promise<unknown>, expected: unknown, read: number][] = [
      ['all of a few', () => found(rows.find({ owner: 'own' })), own.map(({ _id }) => _id), OWN],
      [
        'the latest of many',
        () => found(rows.find({ owner: 'many' }).sort({ at: -1, _id: -1 }).limit(3)),
        [MANY - 1, MANY - 2, MANY - 3].map(ids),
        3,
      ],
      [
        'the earliest of a kind',
        () => found(rows.find({ owner: 'many', state: 'done' }).sort({ at: 1 }).skip(1).limit(2)),
        [3, 5].map(ids),
        3,
      ],
      [
        'some between two times',
        () => found(rows.find({ owner: 'many', at: { $gte: at(500), $lt: at(503) } }).sort({ at: 1 })),
        [500, 501, 502].map(ids),
        4,
      ],
      [
        'the few before a time, whoever has them',
        () => found(rows.find({ at: { $lt: at(2) } }).sort({ at: 1, _id: 1 })),
        ['m-0', 'o-0', 'm-1', 'o-1'],
        6,
      ],
      ['those without a size', () => rows.count({ owner: 'own', size: null }), OWN, 0],
      [
        'all but some',
        () => rows.count({ owner: 'many', _id: { $nin: ['m-1', 'm-2', 'o-1'] } }),
        MANY - 2,
        0,
      ],
      ['how many', () => rows.count({ owner: 'many' }), MANY, 0],
      ['how many of a kind', () => rows.count({ owner: 'many', state: 'done' }), MANY / 2, 0],
      ['how many of nobody', () => rows.count({ owner: 'nobody' }), 0, 0],
    ];
    for (const [what, ask, expected, read] of checks) {
      assert.deepEqual(await ask(), expected, what);
      assert.equal(await documentsRead(connection, ask), read, what);
    }
  });

  it('is there for records of a file that had no such index, and after a restart', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'platen-index-'));
    const open = async () => {
      const database = await startEmbeddedDatabase({
        dataDir: folder,
        logger: pino({ level: 'error' }),
        engine: 'mongo-java-server',
      });
      const client = await mongoose.createConnection(database.uri).asPromise();
      return {
        rows: client.collection<Row>('rows'),
        async close() {
          await client.close();
          await database.close();
        },
      };
    };
    try {
      const first = await open();
      const rows = Array.from({ length: 50 }, (_, n) => ({
        _id: `r-${n}`,
        owner: n % 2 ? 'a' : 'b',
        state: 'done',
        at: new Date(1_700_000_000_000 - n),
      }));
      await first.rows.insertMany(rows);
      await indexed(first.rows);
      const query = () => ({ owner: 'a', at: { $gt: new Date(1_700_000_000_000 - 9) } });
      const expected = ['r-7', 'r-5', 'r-3', 'r-1'];
      assert.deepEqual(await found(first.rows.find(query()).sort({ at: 1, _id: 1 })), expected);
      await first.close();
      const second = await open();
      await indexed(second.rows);
      assert.deepEqual(await found(second.rows.find(query()).sort({ at: 1, _id: 1 })), expected);
      assert.equal(await second.rows.count({ owner: 'a' }), 25);
      await second.close();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

async function found(cursor: mongoose.mongo.FindCursor): Promise<string[]> {
  return (await cursor.toArray()).map(({ _id }) => String(_id));
}

/** The same numbers in [0, 1) for the same seed (Park and Miller). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
