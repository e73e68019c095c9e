import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import mongoose from 'mongoose';
import { pino } from 'pino';
import { startWatched } from '../../../src/infra/embedded-database/guarded-process.ts';
import { startEmbeddedDatabase } from '../../../src/infra/embedded-database/start-embedded.ts';
import { eventually } from '../../support/eventually.ts';

const logger = pino({ level: 'silent' });
const parentScript = fileURLToPath(new URL('../../support/embedded-parent.ts', import.meta.url));

describe('The embedded database', () => {
  let dataDir: string;

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'platen-embedded-'));
  });

  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  it('still has its data after a clean stop, to the last write', async () => {
    const first = await startEmbeddedDatabase({ dataDir, logger });
    await withConnection(first.uri, async (db) => {
      for (let n = 0; n < 100; n++) await db.collection<{ _id: number }>('kept').insertOne({ _id: n });
    });
    await first.close();

    const second = await startEmbeddedDatabase({ dataDir, logger });
    try {
      await withConnection(second.uri, async (db) => {
        assert.equal(await db.collection('kept').countDocuments({}), 100);
      });
    } finally {
      await second.close();
    }
  });

  it('still enforces unique indexes after a restart', async () => {
    const first = await startEmbeddedDatabase({ dataDir, logger });
    await withConnection(first.uri, async (db) => {
      await db.collection('accounts').createIndex({ email: 1 }, { unique: true });
      await db.collection('accounts').insertOne({ email: 'a@example.com' });
    });
    await first.close();

    const second = await startEmbeddedDatabase({ dataDir, logger });
    try {
      await withConnection(second.uri, (db) =>
        assert.rejects(db.collection('accounts').insertOne({ email: 'a@example.com' }), { code: 11000 }),
      );
    } finally {
      await second.close();
    }
  });

  it('rejects a data folder that another live process uses, with a reason', async () => {
    const first = await startEmbeddedDatabase({ dataDir, logger });
    try {
      await assert.rejects(startEmbeddedDatabase({ dataDir, logger }), {
        name: 'EmbeddedDatabaseError',
        message: new RegExp(`in use by another .*${first.kind === 'mongod' ? 'mongod' : first.pid}`),
      });
    } finally {
      await first.close();
    }
  });

  it('starts again after it was killed, with what was written before', async () => {
    const first = await startEmbeddedDatabase({ dataDir, logger });
    await withConnection(first.uri, (db) => db.collection('kept').insertOne({ here: true }));
    // The store writes behind, by a second or more on a busy machine; what is older survives even kill -9.
    await sleep(5000);
    process.kill(first.pid, 'SIGKILL');
    await first.ended;

    const second = await startEmbeddedDatabase({ dataDir, logger });
    try {
      await withConnection(second.uri, async (db) => {
        assert.equal(await db.collection('kept').countDocuments({ here: true }), 1);
      });
    } finally {
      await second.close();
    }
  });

  it('ends when its parent is killed, writing what it has, and the next start goes on at once', async () => {
    const { parent, pid, uri } = await startParent(dataDir);
    await withConnection(uri, (db) => db.collection('kept').insertOne({ here: true }));
    parent.kill('SIGKILL');
    await once(parent, 'exit');

    const next = await startEmbeddedDatabase({ dataDir, logger });
    try {
      await gone(pid);
      await withConnection(next.uri, async (db) => {
        assert.equal(await db.collection('kept').countDocuments({ here: true }), 1);
      });
    } finally {
      await next.close();
    }
  });

  it('does not hear the Ctrl-C that is meant for its parent', async () => {
    const { parent, pid } = await startParent(dataDir);
    try {
      // A terminal signals the whole foreground process group.
      process.kill(-parent.pid!, 'SIGINT');
      await once(parent, 'exit');
    } finally {
      await gone(pid);
    }
  });

  it('gives a remedy when no database can be started', () =>
    assert.rejects(
      startEmbeddedDatabase({ dataDir, logger, engine: 'mongo-java-server', jarsDir: '/nowhere' }),
      {
        name: 'EmbeddedDatabaseError',
        message: /mongo-java-server: not in \/nowhere.*install-peers.*MONGODB_URI/,
      },
    ));
});

describe('A watched process', () => {
  it('gets SIGTERM when its stdin ends, though it never reads it', async () => {
    const watched = await startWatched('sleep', ['300']);
    const children = await childrenOf(watched.pid);
    await watched.stop();
    for (const child of children) await gone(child);
  });

  it('reports the exit code of the program, and leaves no watcher behind', async () => {
    const watched = await startWatched('sh', ['-c', 'echo "$1"; sleep 3; exit 7', 'sh', 'two words']);
    const children = await childrenOf(watched.pid);
    assert.equal(await watched.ended, 7);
    // What it has written may be heard after its end.
    await watched.closed;
    assert.equal(watched.output.stdout, 'two words\n');
    for (const child of children) await gone(child);
  });
});

async function withConnection(uri: string, work: (db: mongoose.Connection) => Promise<unknown>) {
  const connection = await mongoose.createConnection(uri).asPromise();
  try {
    await work(connection);
  } finally {
    await connection.close();
  }
}

async function startParent(dataDir: string): Promise<{ parent: ChildProcess; pid: number; uri: string }> {
  const parent = spawn(process.execPath, [parentScript, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  for await (const line of createInterface({ input: parent.stdout! })) {
    return { parent, ...(JSON.parse(line) as { pid: number; uri: string }) };
  }
  throw new Error('The parent ended without an answer.');
}

/** The program that is watched, and its watcher. */
async function childrenOf(pid: number): Promise<number[]> {
  let children: number[] = [];
  await eventually('both are there', async () => {
    const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
    children = list.trim().split(' ').filter(Boolean).map(Number);
    return children.length === 2;
  });
  return children;
}

async function gone(pid: number): Promise<void> {
  for (let tries = 0; existsSync(`/proc/${pid}`); tries++) {
    assert.ok(tries < 200, `process ${pid} is still there`);
    await sleep(50);
  }
}
