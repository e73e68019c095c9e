import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type OutputKey, type OutputStore, outputKey } from '../../../src/infra/outputs/output-store.ts';
import { withRecentOutputs } from '../../../src/infra/outputs/recent.ts';

const MAX_BYTES = 4000;
const newKey = () => outputKey(randomUUID(), 1, new Date());

describe('outputs that were put lately', () => {
  let asked: OutputKey[];
  let store: OutputStore;
  beforeEach(() => {
    asked = [];
    const kept = new Map<OutputKey, Uint8Array>();
    store = withRecentOutputs(
      {
        put: async (key, pdf) => void kept.set(key, pdf),
        problem: () => undefined,
        async get(key) {
          asked.push(key);
          const pdf = kept.get(key);
          return pdf && { size: pdf.byteLength, stream: Readable.from([pdf]) };
        },
        delete: async (key) => void kept.delete(key),
        deleteExpired: async () => 0,
      },
      MAX_BYTES,
    );
  });
  const put = async (bytes: number) => {
    const key = newKey();
    await store.put(key, Buffer.alloc(bytes, 1));
    return key;
  };
  const read = async (key: OutputKey) => (await buffer((await store.get(key))!.stream)).length;

  it('come from memory, as often as they are read', async () => {
    const key = await put(500);
    for (let i = 0; i < 3; i += 1) assert.equal(await read(key), 500);
    assert.deepEqual(asked, []);
  });

  it('come from where they are when they are large: a slow reader would hold all of one in memory', async () => {
    const large = Buffer.alloc(1024 * 1024 + 1);
    const puts: OutputKey[] = [];
    const folder: OutputStore = {
      put: async (key) => void puts.push(key),
      problem: () => undefined,
      async get(key) {
        asked.push(key);
        return { size: large.byteLength, stream: Readable.from([large]) };
      },
      delete: async () => undefined,
      deleteExpired: async () => 0,
    };
    store = withRecentOutputs(folder);
    const key = newKey();
    await store.put(key, large);
    assert.equal(await read(key), large.byteLength);
    const small = newKey();
    await store.put(small, large.subarray(1));
    assert.equal(await read(small), large.byteLength - 1);
    assert.deepEqual(asked, [key]);
  });

  it('make room for later ones, and are then read from where they are', async () => {
    const keys = [];
    for (let i = 0; i < 6; i += 1) keys.push(await put(900));
    for (const key of keys) assert.equal(await read(key), 900);
    assert.deepEqual(asked, keys.slice(0, 2));
  });

  it('are not kept when they are large', async () => {
    const key = await put(MAX_BYTES / 4 + 1);
    assert.equal(await read(key), MAX_BYTES / 4 + 1);
    assert.deepEqual(asked, [key]);
  });

  it('are gone when they are deleted, and when what has expired is', async () => {
    const [deleted, swept] = [await put(10), await put(10)];
    await store.delete(deleted);
    assert.equal(await store.get(deleted), undefined);
    await store.deleteExpired(new Date());
    await read(swept);
    assert.deepEqual(asked, [deleted, swept]);
  });
});
