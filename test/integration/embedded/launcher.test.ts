import assert from 'node:assert/strict';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import mongoose from 'mongoose';
import { pino } from 'pino';
import { archiveToUse } from '../../../src/infra/embedded-database/class-archive.ts';
import { parseResponse } from '../../../src/infra/embedded-database/launcher-response.ts';
import {
  findJava,
  installationProblem,
  startMongoJavaServer,
} from '../../../src/infra/embedded-database/mongo-java-server.ts';
import { startEmbeddedDatabase } from '../../../src/infra/embedded-database/start-embedded.ts';
import { eventually } from '../../support/eventually.ts';

const installed = fileURLToPath(new URL('../../../.cache/peers/mongo-java-server', import.meta.url));

describe('The launcher of the embedded database', () => {
  let folder: string;
  let jarsDir: string;
  const lines: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const logged = (text: string) => lines.some((line) => line.includes(text));

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen launcher '));
    jarsDir = join(folder, 'a copy of the jars');
    lines.length = 0;
    await cp(installed, jarsDir, { recursive: true, preserveTimestamps: true });
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const start = (java = findJava()!) =>
    startMongoJavaServer({ folder: join(folder, 'the data'), jarsDir, java, lockWaitMs: 0, logger });

  /** Starts and ends it; then the archive is there and fits. */
  const startAndRenew = async () => {
    const database = await start();
    await eventually('a new archive', () => logged('class archive of the embedded database made anew'));
    await database.close();
    assert.ok((await archiveToUse(jarsDir)) !== undefined);
  };

  it('uses an archive that fits, and leaves it as it is', async () => {
    const before = await stat(join(jarsDir, 'classes.jsa'));
    await (await start()).close();
    assert.equal((await stat(join(jarsDir, 'classes.jsa'))).mtimeMs, before.mtimeMs);
    assert.deepEqual(lines, []);
  });

  it('starts with an archive of other jars, and makes it again', async () => {
    // As after a copy that keeps no times.
    await utimes(join(jarsDir, 'jars/launcher.jar'), new Date(), new Date());
    assert.equal(await archiveToUse(jarsDir), undefined);
    await startAndRenew();
  });

  it('starts with an archive that breaks off, with which the JVM would crash, and makes it again', async () => {
    await chmod(join(jarsDir, 'classes.jsa'), 0o600);
    await truncate(join(jarsDir, 'classes.jsa'), 3_000_000);
    await startAndRenew();
  });

  it('starts with an archive of another JVM, and makes it again', async () => {
    const path = join(jarsDir, 'classes.json');
    const record = JSON.parse(await readFile(path, 'utf8'));
    await writeFile(path, JSON.stringify({ ...record, jvm: 'OpenJDK 64-Bit Server VM 17.0.1+12' }));
    await startAndRenew();
    assert.deepEqual(JSON.parse(await readFile(path, 'utf8')), {
      ...record,
      sha256: JSON.parse(await readFile(path, 'utf8')).sha256,
    });
  });

  it('starts without an archive when the JVM ends because of it', async () => {
    const java = await script('case "$*" in *SharedArchiveFile*) kill -SEGV $$;; esac');
    await (await start(java)).close();
    assert.ok(logged('once more without archive'));
  });

  it('takes no line of the JVM for its response, and logs it', async () => {
    const java = await script(`echo '[0.013s][warning][cds] The shared archive file does not fit.'
echo 'LISTENING'
echo 'Picked up something' >&2`);
    const database = await start(java);
    // It has waited for the launcher's own response, and so can be connected to at once.
    await (await mongoose.createConnection(database.uri).asPromise()).close();
    await database.close();
    for (const line of ['shared archive file does not fit', 'LISTENING', 'Picked up something']) {
      assert.ok(logged(line), line);
    }
  });

  for (const [files, connections] of [
    [1024, 100],
    [256, 50],
  ] as const) {
    it(`starts, and serves ${connections} connections, where a process may open ${files} files`, async () => {
      const database = await start(await script(`ulimit -n ${files}`));
      const pool = { minPoolSize: connections, maxPoolSize: connections };
      const connection = mongoose.createConnection(database.uri, pool);
      await connection.asPromise();
      const pings = Array.from({ length: 1000 }, () => connection.db!.command({ ping: 1 }));
      assert.ok((await Promise.all(pings)).every(({ ok }) => ok === 1));
      await connection.close();
      await database.close();
    });
  }

  it('names the limit of open files when that keeps it from starting, and not Java', async () => {
    await script('ulimit -n 40');
    const { PATH } = process.env;
    process.env.PATH = `${folder}:${PATH}`;
    const starting = startEmbeddedDatabase({
      dataDir: join(folder, 'other data'),
      logger,
      engine: 'mongo-java-server',
      jarsDir,
    }).finally(() => {
      process.env.PATH = PATH;
    });
    await assert.rejects(starting, (error: Error) => {
      assert.match(
        error.message,
        /too few open files are allowed here.*Raise the limit of open files \(`ulimit -n`\)/,
      );
      assert.doesNotMatch(error.message, /install a JDK/);
      return true;
    });
  });

  it('reports in one line the error that keeps it from starting', async () => {
    const missing = await script("echo 'Error: no such thing' >&2; exit 1");
    await assert.rejects(start(missing), {
      message: /^The embedded database did not start .*no such thing\)\.$/,
    });
    const old = await script("echo 'java.lang.UnsupportedClassVersionError: 61.0' >&2; exit 1");
    await assert.rejects(start(old), {
      message: /is too old: the embedded database needs Java 17 or newer\.$/,
    });
    await mkdir(join(folder, 'the data'), { recursive: true });
    await writeFile(join(folder, 'the data/database.mv'), 'no database'.repeat(1000));
    await assert.rejects(start(), { message: /^The database file .*database\.mv cannot be opened: .*$/ });
  });

  it('is rejected when it is of another version of Platen, with a remedy', async () => {
    assert.equal(installationProblem(jarsDir), undefined);
    await rm(join(jarsDir, 'launcher.version'));
    assert.match(
      installationProblem(jarsDir)!,
      /is of another version of Platen; `node scripts.install-peers/,
    );
  });

  it('finds java on PATH, else in JAVA_HOME', async () => {
    await mkdir(join(folder, 'bin'));
    const java = join(folder, 'bin/java');
    await writeFile(java, '', { mode: 0o755 });
    assert.equal(findJava({ PATH: `/nowhere:${folder}/bin` }), java);
    assert.equal(findJava({ PATH: '/nowhere', JAVA_HOME: folder }), java);
    assert.equal(findJava({ PATH: '/nowhere', JAVA_HOME: '/nowhere' }), undefined);
  });

  it('has responses of a fixed form', () => {
    assert.deepEqual(parseResponse('platen-database LISTENING'), { kind: 'listening' });
    assert.deepEqual(parseResponse('platen-database WRITTEN'), { kind: 'written' });
    for (const line of ['LISTENING', ' platen-database LISTENING', 'platen-database FOO 1']) {
      assert.equal(parseResponse(line), undefined, line);
    }
  });

  /** A java that does something first. */
  async function script(first: string): Promise<string> {
    const path = join(folder, 'java');
    await writeFile(path, `#!/bin/sh\n${first}\nexec '${findJava()}' "$@"\n`, { mode: 0o755 });
    return path;
  }
});
