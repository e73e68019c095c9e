import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import {
  expiryOf,
  HOUR_MS,
  type OutputKey,
  type OutputStore,
  outputKey,
} from '../../../../src/infra/outputs/output-store.ts';

export interface OpenStore {
  readonly store: OutputStore;
  /** How many things of any kind the store holds, finished or not. */
  countParts(): Promise<number>;
  close(): Promise<void>;
}

const NOW = new Date('2026-05-05T12:30:00Z');
const later = (hours: number): Date => new Date(NOW.getTime() + hours * HOUR_MS);

/** What every output store does. */
export function describeOutputStore(name: string, open: () => Promise<OpenStore>): void {
  describe(`Output store: ${name}`, () => {
    let opened: OpenStore;
    let store: OutputStore;

    beforeEach(async () => {
      opened = await open();
      store = opened.store;
    });
    afterEach(() => opened.close());

    const newKey = (expiresAt = later(24), fence = 1): OutputKey => outputKey(randomUUID(), fence, expiresAt);
    const read = async (key: OutputKey): Promise<Buffer | undefined> => {
      const stored = await store.get(key);
      if (stored === undefined) return undefined;
      const bytes = await buffer(stored.stream);
      assert.equal(bytes.length, stored.size);
      return bytes;
    };

    // Around the chunk size of GridFS, around the size from which S3 is sent parts, and well past both.
    const sizes = [1024 * 1024, 32 * 1024 * 1024].flatMap((size) => [size - 1, size, size + 1]);
    for (const size of [0, 1, 30_000, ...sizes, 20 * 1024 * 1024, 50_000_000]) {
      it(`hands back ${size} bytes as they were put`, async () => {
        const [key, pdf] = [newKey(), randomBytes(size)];
        await store.put(key, pdf);
        assert.equal(digest((await read(key))!), digest(pdf));
        await store.delete(key);
        assert.equal(await opened.countParts(), 0);
      });
    }

    it('takes a view into a larger buffer', async () => {
      const [key, large] = [newKey(), randomBytes(5000)];
      await store.put(key, new Uint8Array(large.buffer, large.byteOffset + 1000, 3000));
      assert.equal(digest((await read(key))!), digest(large.subarray(1000, 4000)));
    });

    it('keeps the outputs of each attempt separate', async () => {
      const id = randomUUID();
      const [first, second] = [outputKey(id, 1, later(24)), outputKey(id, 2, later(24))];
      await store.put(first, Buffer.from('first'));
      await store.put(second, Buffer.from('second'));
      await store.delete(second);
      assert.equal(String(await read(first)), 'first');
      assert.equal(await read(second), undefined);
    });

    it('accepts the same key again, as after a lost response', async () => {
      const key = newKey();
      await store.put(key, randomBytes(3 * 1024 * 1024));
      await store.put(key, Buffer.from('again'));
      assert.equal(String(await read(key)), 'again');
    });

    it('knows nothing of keys that were never put or are deleted', async () => {
      const key = newKey();
      assert.equal(await store.get(key), undefined);
      await store.delete(key);
      await store.put(key, Buffer.from('x'));
      await store.delete(key);
      await store.delete(key);
      assert.equal(await store.get(key), undefined);
      assert.equal(await store.deleteExpired(later(1000)), 0);
    });

    it('deletes several at once, those that are missing and those that are not', async () => {
      const keys = Array.from({ length: 5 }, () => newKey());
      for (const key of keys.slice(1)) await store.put(key, Buffer.from('x'));
      await store.delete(...keys.slice(0, 4));
      assert.deepEqual(await Promise.all(keys.map((key) => store.get(key).then(Boolean))), [
        ...[false, false, false, false],
        true,
      ]);
      await store.delete();
    });

    it('lets a reader stop half-way', async () => {
      const key = newKey();
      await store.put(key, randomBytes(5 * 1024 * 1024));
      const stored = await store.get(key);
      for await (const part of stored!.stream) {
        assert.ok(part.length > 0);
        break;
      }
      assert.equal((await read(key))?.length, 5 * 1024 * 1024);
    });

    it('deletes what has expired, not what expires now or later', async () => {
      const key = newKey(later(2));
      await store.put(key, Buffer.from('x'));
      const expiry = expiryOf(key);
      assert.ok(expiry >= later(2));
      assert.equal(await store.deleteExpired(later(2)), 0, 'the hour has not ended');
      assert.equal(await store.deleteExpired(expiry), 0, 'not yet past');
      assert.ok(await read(key));
      assert.equal(await store.deleteExpired(new Date(expiry.getTime() + 1)), 1);
      assert.equal(await store.get(key), undefined);
      assert.equal(await opened.countParts(), 0);
    });

    it('deletes many in one sweep and leaves the rest', async () => {
      const [old, kept] = [later(1), later(9)];
      const expired = Array.from({ length: 1100 }, () => newKey(old));
      const live = newKey(kept);
      for (const key of [...expired, live]) await store.put(key, Buffer.from('x'));
      assert.equal(await store.deleteExpired(later(4)), 1100);
      assert.equal(await store.deleteExpired(later(4)), 0);
      assert.equal(String(await read(live)), 'x');
    });

    it('serves twenty at once', async () => {
      const puts = Array.from({ length: 20 }, () => ({ key: newKey(), pdf: randomBytes(200_000) }));
      await Promise.all(puts.map(({ key, pdf }) => store.put(key, pdf)));
      const found = await Promise.all(puts.map(({ key }) => read(key)));
      found.forEach((pdf, index) => {
        assert.equal(digest(pdf!), digest(puts[index]!.pdf));
      });
    });
  });
}

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
