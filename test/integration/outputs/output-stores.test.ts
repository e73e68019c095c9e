import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Connection } from 'mongoose';
import { pino } from 'pino';
import { createFolderOutputStore } from '../../../src/infra/outputs/folder.ts';
import { createGridFsOutputStore } from '../../../src/infra/outputs/gridfs.ts';
import { withRecentOutputs } from '../../../src/infra/outputs/recent.ts';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { startMongo } from '../../support/mongo.ts';
import { describeOutputStore, type OpenStore } from './support/conformance.ts';

async function openFolder(): Promise<OpenStore> {
  const folder = await mkdtemp(join(tmpdir(), 'platen-outputs-'));
  return {
    store: createFolderOutputStore(join(folder, 'deep', 'outputs')),
    async countParts() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).length;
    },
    close: () => rm(folder, { recursive: true }),
  };
}

async function openRecent(): Promise<OpenStore> {
  const folder = await openFolder();
  return { ...folder, store: withRecentOutputs(folder.store) };
}

async function openGridFs(): Promise<OpenStore> {
  const connection: Connection = await connectDatabase((await startMongo()).uri, pino({ level: 'silent' }));
  return {
    store: createGridFsOutputStore(connection),
    async countParts() {
      const [files, chunks] = ['outputs.files', 'outputs.chunks'].map((name) =>
        connection.db!.collection(name),
      );
      return (await files!.countDocuments({})) + (await chunks!.countDocuments({}));
    },
    close: () => connection.close(),
  };
}

describeOutputStore('folder', openFolder);
describeOutputStore('folder, the last ones in memory', openRecent);
describeOutputStore('GridFS', openGridFs);
