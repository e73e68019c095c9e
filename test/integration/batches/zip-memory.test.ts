import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { createFolderOutputStore } from '../../../src/infra/outputs/folder.ts';
import { createGridFsOutputStore } from '../../../src/infra/outputs/gridfs.ts';
import { type OutputKey, type OutputStore, outputKey } from '../../../src/infra/outputs/output-store.ts';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { zipSize } from '../../../src/work/batches/zip.ts';
import { type FilesProcess, startFilesProcess } from '../../support/batch-files.ts';
import { startMongo } from '../../support/mongo.ts';

const MIB = 1024 * 1024;
const ITEMS = 400;
/** Four hundred of them are 200 MB. */
const ITEM_BYTES = 500_000;
const OUTPUTS = 10;
/** Half of it: whoever held all that is sent would have twice as much. */
const MOST_MORE = 100 * MIB;

/** A store, where another process finds it, and what removes it. */
interface Location {
  readonly store: OutputStore;
  readonly location: string;
  /** Items that are read before anything is measured. A driver of a database needs some until it has its buffers. */
  readonly readBefore: number;
  close(): Promise<unknown>;
}

const LOCATIONS: Readonly<Record<string, () => Promise<Location>>> = {
  'a folder': async () => {
    const location = await mkdtemp(join(tmpdir(), 'platen-zip-'));
    const close = () => rm(location, { recursive: true, force: true });
    return { store: createFolderOutputStore(location), location, readBefore: 0, close };
  },
  GridFS: async () => {
    const { uri } = await startMongo();
    const connection = await connectDatabase(uri, pino({ level: 'silent' }));
    return {
      store: createGridFsOutputStore(connection),
      location: uri,
      readBefore: ITEMS / 8,
      close: () => connection.close(),
    };
  },
};

for (const [name, open] of Object.entries(LOCATIONS)) {
  describe(`the memory that a zip of 400 items and 200 MB takes, out of ${name}`, () => {
    let location: Location;
    let files: FilesProcess;

    beforeEach(async () => {
      location = await open();
      const keys: OutputKey[] = [];
      for (let i = 0; i < OUTPUTS; i += 1) {
        keys.push(outputKey(`job-${i}`, 1, new Date(Date.now() + 86_400_000)));
        await location.store.put(keys[i]!, randomBytes(ITEM_BYTES));
      }
      files = await startFilesProcess(location.location, ITEMS, ITEM_BYTES, keys);
    });
    afterEach(async () => {
      await files.end();
      await location.close();
    });

    it('is less than half of that for a slow reader, and for each of two at once', async () => {
      const date = new Date('2026-01-01');
      const size = zipSize(
        Array.from({ length: ITEMS }, (_, i) => ({ name: `document-${i}.pdf`, size: ITEM_BYTES, date })),
      );
      if (location.readBefore > 0) await files.read('zip', 100, location.readBefore);
      const before = (await files.memory()).now;
      assert.equal(await files.read('zip', 100), size);
      const more = (await files.memory()).peak - before;
      assert.deepEqual(await Promise.all([files.read('zip', 50), files.read('zip', 0)]), [size, size]);
      const moreForTwo = (await files.memory()).peak - before;
      const reported = `${inMib(more)} MiB more than the ${inMib(before)} MiB before; ${inMib(moreForTwo)} for two`;
      console.log(`      ${reported}`);
      assert.ok(more < MOST_MORE, reported);
      assert.ok(moreForTwo < 2 * MOST_MORE, reported);
    });
  });
}

function inMib(bytes: number): number {
  return Math.round(bytes / MIB);
}
