import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import mongoose from 'mongoose';
import { pino } from 'pino';
import type { EmbeddedDatabase } from '../../../src/infra/embedded-database/embedded-database.ts';
import { findJava } from '../../../src/infra/embedded-database/mongo-java-server.ts';
import { startMongod } from '../../../src/infra/embedded-database/mongod.ts';
import { startEmbeddedDatabase } from '../../../src/infra/embedded-database/start-embedded.ts';
import { socketPathOf } from '../../support/database-way.ts';
import { listeningPorts } from '../../support/listening.ts';
import { descendants } from '../../support/processes.ts';

const logger = pino({ level: 'silent' });
const jarsDir = fileURLToPath(new URL('../../../.cache/peers/mongo-java-server', import.meta.url));
const NOBODY = 65_534;

describe('What listens for the connections of an embedded database', () => {
  let dataDir: string;
  let database: EmbeddedDatabase | undefined;

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'platen-private-'));
    // As a folder may be that was there before: what is private must be so by itself.
    await chmod(dataDir, 0o755);
  });
  afterEach(async () => {
    await database?.close();
    database = undefined;
    await rm(dataDir, { recursive: true, force: true });
  });

  const startJava = () => startEmbeddedDatabase({ dataDir, logger, engine: 'mongo-java-server' });
  const ENGINES: readonly [engine: string, start: () => Promise<EmbeddedDatabase>][] = [
    ['mongo-java-server', startJava],
    ['mongod', async () => startMongod(await standInForMongod(dataDir), join(dataDir, 'mongod'))],
  ];

  for (const [engine, start] of ENGINES) {
    it(`is a socket that its owner alone may use, and no port: ${engine}`, async () => {
      database = await start();
      const tree = [database.pid, ...descendants(database.pid).map(({ pid }) => pid)];
      assert.deepEqual(listeningPorts(tree), []);
      const path = socketPathOf(database.uri);
      assert.ok(path.startsWith(`${dataDir}/`));
      assert.equal((await stat(dirname(path))).mode & 0o777, 0o700);
      await assertWritable(database.uri);
      assert.equal(knocked(path, undefined), 'connected');
      if (process.getuid!() === 0) assert.match(knocked(path, NOBODY), /EACCES/);
      await database.close();
      assert.ok(!existsSync(dirname(path)));
    });
  }

  it('takes the place of what a killed one has left', async () => {
    const killed = await startJava();
    process.kill(killed.pid, 'SIGKILL');
    await killed.ended;
    assert.ok(existsSync(socketPathOf(killed.uri)));
    database = await startJava();
    assert.ok(!existsSync(dirname(socketPathOf(killed.uri))));
    await assertWritable(database.uri);
  });

  it('stays when another start finds the data in use', async () => {
    database = await startJava();
    const folders = await readdir(join(dataDir, 'mongo-java-server'));
    await assert.rejects(startJava(), /in use by another/);
    assert.deepEqual(await readdir(join(dataDir, 'mongo-java-server')), folders);
    await assertWritable(database.uri);
  });

  for (const [where, name] of [
    ['too deep for a socket', 'deep'.repeat(25)],
    ['of a name that mongod would take for two', 'a,b'],
  ] as const) {
    it(`is in a private folder for temporary files when the data is in a folder ${where}`, async () => {
      const folder = join(dataDir, name);
      database = await startEmbeddedDatabase({ dataDir: folder, logger, engine: 'mongo-java-server' });
      const path = socketPathOf(database.uri);
      assert.ok(!path.startsWith(dataDir));
      assert.equal((await stat(dirname(path))).mode & 0o777, 0o700);
      await assertWritable(database.uri);
      await database.close();
      assert.ok(!existsSync(dirname(path)));
    });
  }
});

async function assertWritable(uri: string): Promise<void> {
  const connection = await mongoose.createConnection(uri).asPromise();
  try {
    await connection.collection('things').insertOne({ here: true });
    assert.ok((await connection.collection('things').countDocuments({})) > 0);
  } finally {
    await connection.close();
  }
}

/** What a process of a user hears that connects to a socket; of this process's own user by default. */
function knocked(path: string, uid: number | undefined): string {
  const script =
    "require('node:net').connect(process.argv[1]).on('connect', () => {console.log('connected'); process.exit()}).on('error', (e) => console.log(e.code))";
  const { stdout } = spawnSync(process.execPath, ['-e', script, path], {
    cwd: '/',
    encoding: 'utf8',
    ...(uid !== undefined && { uid, gid: uid }),
  });
  return stdout.trim();
}

/**
 * Listens where mongod is told to: with the Java server behind it, because a mongod is not to be had everywhere. It
 * takes the flags as mongod does, and rejects what it does not know.
 */
async function standInForMongod(dataDir: string): Promise<string> {
  const program = join(dataDir, 'mongod-stand-in');
  await mkdir(join(dataDir, 'mongod'), { recursive: true });
  const script = `#!/bin/sh
while [ $# -gt 0 ]; do
  case "$1" in
    --dbpath) data=$2; shift;;
    --bind_ip) addresses=$2; shift;;
    --unixSocketPrefix) prefix=$2; shift;;
    --port) port=$2; shift;;
    --filePermissions | --wiredTigerCacheSizeGB) shift;;
    --quiet) ;;
    *) echo "unknown option $1"; exit 2;;
  esac
  shift
done
# It listens on each address of bind_ip, and on its own socket: here that is one and the same.
[ "$addresses" = "$prefix/mongodb-$port.sock" ] || { echo "would listen on $addresses"; exit 2; }
cd '${jarsDir}'
# As mongod, it ends by a signal and not with its stdin.
mkfifo "$data/stdin"
exec 3<>"$data/stdin"
exec '${findJava()}' @java.args EmbeddedDatabase "$data/stand-in.mv" 0 "$addresses" <&3
`;
  await writeFile(program, script, { mode: 0o755 });
  return program;
}
