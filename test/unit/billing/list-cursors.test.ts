import assert from 'node:assert/strict';
import {
  type Known,
  type Range,
  type Round,
  readOn,
  readRound,
} from '../../../src/billing/stripe/list-cursors.ts';
import { seeded } from '../../chaos/random.ts';

interface Item {
  readonly id: number;
  readonly madeAt: Date;
}

const BOUND = 5;

/** A list that grows at its newer end, and counts how much of it is read. */
class Growing {
  readonly items: Item[] = [];
  read = 0;

  grow(count: number, everySeconds: () => number): void {
    for (let i = 0; i < count; i += 1) {
      const last = this.items.at(-1)?.madeAt.getTime() ?? 0;
      this.items.push({ id: this.items.length, madeAt: new Date(last + everySeconds() * 1000) });
    }
  }

  readonly list = async ({ from, until }: Range, most: number): Promise<Item[]> => {
    const found = this.items
      .filter(({ madeAt }) => (!from || madeAt >= from) && (!until || madeAt <= until))
      .toReversed()
      .slice(0, most);
    this.read += found.length;
    return found;
  };
}

const madeAt = (item: Item) => item.madeAt;

describe('Lists of the provider that are read in passes', () => {
  it('are read once from end to end, whatever comes meanwhile, and then only their new items', async () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const random = seeded(seed);
      const list = new Growing();
      const seen = new Set<number>();
      let known: Known = {};
      let complete = false;
      const pass = async () => {
        const before = list.read;
        const read = await readOn(known, BOUND, list.list, madeAt);
        assert.ok(list.read - before <= 2 * BOUND, `SEED=${seed}: one pass reads ${list.read - before}`);
        for (const { id } of read.items) seen.add(id);
        ({ known, complete } = read);
      };
      for (let round = 0; round < 30; round += 1) {
        // At most two of one second: fewer than a pass reads.
        list.grow(Math.floor(random() * 12), () => (list.items.length % 2) * Math.ceil(random() * 3));
        await pass();
      }
      for (let more = 0; !complete && more < 200; more += 1) await pass();
      assert.equal(complete, true, `SEED=${seed}`);
      assert.equal(seen.size, list.items.length, `SEED=${seed}`);
      const before = list.read;
      await pass();
      assert.ok(list.read - before <= 2, `SEED=${seed}: nothing is read again but the newest second`);
    }
  });

  it('continue past a second with more items than a pass reads', async () => {
    const list = new Growing();
    list.grow(1, () => 1);
    list.grow(50, () => 0);
    let known: Known = {};
    let passes = 0;
    for (let complete = false; !complete; passes += 1) {
      ({ known, complete } = await readOn(known, BOUND, list.list, madeAt));
      assert.ok(passes < 20);
    }
  });

  it('are read in rounds from the newest to the oldest that matters, and again after an event', async () => {
    const list = new Growing();
    list.grow(17, () => 2);
    const from = list.items[3]!.madeAt;
    const round = async (newsAt?: number) => {
      const met: number[] = [];
      let known: Round | undefined;
      for (let pass = 0; ; pass += 1) {
        assert.ok(pass < 20);
        const read = await readRound(
          known,
          { from, bound: BOUND, news: pass === 0 || pass === newsAt },
          list.list,
          madeAt,
        );
        met.push(...read.items.map(({ id }) => id));
        known = read.known;
        if (read.complete) break;
      }
      assert.equal(known, undefined);
      return met;
    };
    const all = list.items.slice(3).map(({ id }) => id);
    const once = await round();
    assert.deepEqual([...new Set(once)].toReversed(), all);
    assert.equal(once.filter((id) => id === 16).length, 1);
    const twice = await round(1);
    assert.deepEqual(
      all.map((id) => twice.filter((met) => met === id).length >= 2),
      all.map(() => true),
    );
  });
});
