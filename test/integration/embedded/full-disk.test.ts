import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import mongoose from 'mongoose';
import { pino } from 'pino';
import type { EmbeddedDatabase } from '../../../src/infra/embedded-database/embedded-database.ts';
import { findJava, startMongoJavaServer } from '../../../src/infra/embedded-database/mongo-java-server.ts';
import { flushDatabase } from '../../../src/infra/store/connection.ts';
import { eventually } from '../../support/eventually.ts';
import { makeSmallDisk, type SmallDisk } from '../../support/small-disk.ts';

const MIB = 1024 * 1024;
const jarsDir = fileURLToPath(new URL('../../../.cache/peers/mongo-java-server', import.meta.url));

describe('The embedded database on a full disk', () => {
  let scratch: string;
  let disk: SmallDisk;
  let java: string;
  const lines: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });

  before(async () => {
    // Too deep for a socket: the disk is out of this process's sight, and the socket of the database must not be.
    scratch = await mkdtemp(join(tmpdir(), `platen full ${'deep '.repeat(20)}`));
    disk = await makeSmallDisk(scratch, 600 * MIB);
    java = join(scratch, 'java');
    await writeFile(java, `#!/bin/sh\nexec '${disk.runner}' '${findJava()}' "$@"\n`, { mode: 0o755 });
  });
  after(async () => {
    disk.close();
    await rm(scratch, { recursive: true, force: true });
  });

  const start = () => startMongoJavaServer({ folder: disk.folder, jarsDir, java, lockWaitMs: 0, logger });
  /** Documents that no file can hold without growing. */
  const insert = async (
    database: EmbeddedDatabase,
    from: number,
    to: number,
    bytes = 20_000,
    onEach = () => {},
  ) => {
    const connection = await mongoose.createConnection(database.uri).asPromise();
    try {
      const kept = connection.collection<{ _id: number; text: Buffer }>('kept');
      for (let n = from; n < to; n += 1) {
        await kept.insertOne({ _id: n, text: randomBytes(bytes) });
        onEach();
      }
    } finally {
      await connection.close();
    }
  };
  const flush = async (database: EmbeddedDatabase) => {
    const connection = await mongoose.createConnection(database.uri).asPromise();
    try {
      await flushDatabase(connection);
    } finally {
      await connection.close();
    }
  };
  const count = async (database: EmbeddedDatabase) => {
    const connection = await mongoose.createConnection(database.uri).asPromise();
    try {
      return await connection.collection('kept').countDocuments({});
    } finally {
      await connection.close();
    }
  };

  it('waits, responds from memory, logs that, and has all data when there is room again', async () => {
    const database = await start();
    await insert(database, 0, 10);
    assert.equal(database.problem(), undefined);
    disk.fill();
    await insert(database, 10, 20);
    await eventually('it says that it cannot write', () => database.problem() !== undefined);
    assert.match(
      database.problem()!,
      /^disk full: .*database\.mv cannot be written: No space left on device$/,
    );
    assert.equal(await count(database), 20);
    disk.empty();
    await eventually('it can write', () => database.problem() === undefined);
    await insert(database, 20, 30);
    await database.close();
    assert.equal(await countAfterRestart(), 30);
  });

  it('writes what it has acknowledged when it is told to, and says that it cannot while it cannot', async () => {
    const database = await start();
    await insert(database, 1000, 1010);
    await flush(database);
    process.kill(database.pid, 'SIGKILL');
    await database.ended;
    assert.equal(await countAfterRestart(), 40);
    const again = await start();
    disk.fill();
    await insert(again, 1010, 1020);
    await assert.rejects(flush(again), { codeName: 'OutOfDiskSpace', message: /No space left on device/ });
    // At once, from then on.
    await assert.rejects(flush(again), { codeName: 'OutOfDiskSpace' });
    disk.empty();
    await eventually('it can write', () => again.problem() === undefined);
    await flush(again);
    process.kill(again.pid, 'SIGKILL');
    await again.ended;
    assert.equal(await countAfterRestart(), 50);
  });

  it('lets writers wait when it cannot hold more in memory, and none is lost', async () => {
    const database = await start();
    disk.fill();
    let written = 0;
    const inserting = insert(database, 30, 330, 1_200_000, () => {
      written += 1;
    });
    await eventually('it says that it cannot write', () => database.problem() !== undefined);
    let before = -1;
    await eventually('nothing more is taken', async () => {
      before = written;
      await sleep(3000);
      return written === before;
    });
    assert.ok(written < 300, '360 MB are not held in memory');
    disk.empty();
    await inserting;
    await database.close();
    assert.equal(await countAfterRestart(), 350);
  });

  it('names the unwritten data when it has to end meanwhile, and ends in time', async () => {
    const database = await start();
    disk.fill();
    await insert(database, 330, 340);
    await eventually('it says that it cannot write', () => database.problem() !== undefined);
    await database.close();
    // By itself: it was not killed.
    assert.equal(await database.ended, 4);
    const reported = lines.find((line) => line.includes('the embedded database has failed'));
    assert.match(reported ?? '', /No space left on device/);
    disk.empty();
    assert.equal(await countAfterRestart(), 350);
  });

  it('does not start, and gives the reason', async () => {
    disk.fill();
    await rm(join(disk.seen, 'database.mv'));
    disk.fill();
    await assert.rejects(start(), {
      name: 'EmbeddedDatabaseError',
      message: /database\.mv cannot be opened: .*No space left on device/,
    });
  });

  async function countAfterRestart(): Promise<number> {
    const database = await start();
    try {
      return await count(database);
    } finally {
      await database.close();
    }
  }
});
