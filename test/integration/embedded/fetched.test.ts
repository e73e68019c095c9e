import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { pino } from 'pino';
import { pack } from 'tar-fs';
import {
  FETCHED_VERSION,
  type FetchOptions,
  fetchedMongod,
  fetchMongod,
} from '../../../src/infra/embedded-database/mongod.ts';
import { startEmbeddedDatabase } from '../../../src/infra/embedded-database/start-embedded.ts';
import { eventually } from '../../support/eventually.ts';
import { descendants } from '../../support/processes.ts';

const logger = pino({ level: 'silent' });
/** Whatever this machine is. */
const ARCHIVE = `mongodb-linux-x86_64-debian12-${FETCHED_VERSION}.tgz`;
const CHECKSUMS = fileURLToPath(new URL('../../../scripts/mongod-archives.json', import.meta.url));
/** Short, for a server on this machine that never answers; the installer begins to count with its request. */
const IMPATIENT = { firstMs: 2000, laterMs: 1500 };
/** For one that answers, however busy the machine is. */
const PATIENT = { firstMs: 60_000, laterMs: 60_000 };

type Reply = (request: IncomingMessage, response: ServerResponse, archive: Buffer) => void;

const serve: Reply = (_request, response, archive) => {
  response.writeHead(200, { 'content-length': archive.length });
  response.end(archive);
};

describe('A mongod that is fetched', () => {
  let folder: string;
  let server: Server;
  let archive: Buffer;
  let reply: Reply;
  let asked: string[];
  let reported: string[];

  before(async () => {
    server = createServer((request, response) => {
      asked.push(request.url!);
      reply(request, response, archive);
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-fetched-'));
    archive = await packed(folder);
    await writeFile(join(folder, 'sums.json'), JSON.stringify({ [ARCHIVE]: sha256(archive) }));
    [asked, reported, reply] = [[], [], serve];
  });
  afterEach(async () => {
    server.closeAllConnections();
    await rm(folder, { recursive: true, force: true });
  });

  const options = (limits = PATIENT): FetchOptions => ({
    folder: join(folder, 'cache'),
    checksums: join(folder, 'sums.json'),
    limits,
    environment: {
      MONGOMS_DOWNLOAD_MIRROR: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      MONGOMS_ARCHIVE_NAME: ARCHIVE,
      MONGOMS_USE_HTTP: 'true',
    },
    report: (line) => void reported.push(line),
  });
  /** What is left in the cache's folder, folders of versions aside. */
  const leftBehind = async () =>
    (await readdir(join(folder, 'cache')).catch(() => [])).filter((name) => name !== FETCHED_VERSION);

  it('comes out of the archive whole and can be run, reports its progress, and is fetched once', async () => {
    const file = await fetchMongod(options());
    assert.equal(await readFile(file, 'utf8'), PROGRAM);
    assert.equal(fetchedMongod(join(folder, 'cache')), file);
    assert.match(asked.join(), new RegExp(`^/\\w+/${ARCHIVE}$`));
    assert.match(reported[0]!, /^fetching MongoDB 8\.\d+\.\d+ from 127\.0\.0\.1:\d+$/);
    assert.ok(
      reported.some((line) => /100%/.test(line)),
      reported.join('\n'),
    );
    assert.deepEqual(await leftBehind(), []);
  });

  it('is requested from MongoDB, in a version whose archives have checksums', async () => {
    const sums = Object.entries(JSON.parse(await readFile(CHECKSUMS, 'utf8')) as Record<string, string>);
    assert.ok(sums.length > 10);
    for (const [name, sum] of sums) {
      assert.match(name, new RegExp(`^mongodb-(linux|macos)-\\w+(-\\w+)?-${FETCHED_VERSION}\\.tgz$`));
      assert.match(sum, /^[0-9a-f]{64}$/);
    }
    assert.equal(new Set(sums.map(([, sum]) => sum)).size, sums.length);
  });

  describe('and cannot be had', () => {
    const reject =
      (status: number): Reply =>
      (_request, response) => {
        response.writeHead(status);
        response.end('no');
      };
    const CASES: readonly [what: string, served: Reply, reason: RegExp, limits?: typeof PATIENT][] = [
      ['refused with 403', reject(403), /403/],
      ['refused with 404', reject(404), /404/],
      ['broken off', (request) => request.socket.destroy(), /socket hang up|ECONNRESET/],
      ['never answered', () => undefined, /nothing has come for 2 s/, IMPATIENT],
      [
        'stalled half-way',
        (_request, response, whole) => {
          response.writeHead(200, { 'content-length': whole.length });
          response.write(whole.subarray(0, whole.length / 2));
        },
        /nothing has come for 1\.5 s/,
        IMPATIENT,
      ],
      [
        'corrupted',
        (request, response, whole) => {
          const other = Buffer.from(whole);
          other[other.length >> 1]! ^= 1;
          serve(request, response, other);
        },
        /has the SHA-256 [0-9a-f]{64}, and not [0-9a-f]{64}/,
      ],
      [
        'cut short',
        (request, response, whole) => serve(request, response, whole.subarray(0, 100)),
        /SHA-256/,
      ],
    ];
    for (const [what, behaviour, reason, limits] of CASES) {
      it(`ends with the reason when it is ${what}`, async () => {
        reply = behaviour;
        await assert.rejects(fetchMongod(options(limits)), {
          name: 'EmbeddedDatabaseError',
          message: reason,
        });
        assert.equal(asked.length, 1, 'asked once');
        assert.equal(fetchedMongod(join(folder, 'cache')), undefined);
      });
    }

    const start = async (name: string) => {
      const dataDir = join(folder, name);
      const database = await startEmbeddedDatabase({ dataDir, logger, fetch: options(IMPATIENT) });
      await database.close();
      return database.kind;
    };

    it('is replaced by the Java server, which one log line reports', async () => {
      reply = () => undefined;
      assert.equal(await start('data'), 'mongo-java-server');
      assert.deepEqual(
        reported.filter((line) => !line.startsWith('fetching')),
        ['No mongod (nothing has come for 2 s): mongo-java-server is tried instead'],
      );
    });

    it('is requested again at the next start without data, but not at one with data', async () => {
      reply = reject(403);
      for (const [name, times] of [
        ['one', 1],
        ['one', 1],
        ['two', 2],
      ] as const) {
        assert.equal(await start(name), 'mongo-java-server');
        assert.equal(asked.length, times);
      }
    });

    it('ends the start with a remedy when no other database is allowed or available', async () => {
      reply = reject(403);
      const rest = { dataDir: join(folder, 'data'), logger, fetch: options() };
      await assert.rejects(startEmbeddedDatabase({ ...rest, engine: 'mongod' }), /mongod: .*403/);
      await assert.rejects(
        startEmbeddedDatabase({ ...rest, jarsDir: '/nowhere' }),
        /three ways out: put MongoDB's mongod on PATH.*install a JDK \(Java 17 or newer\) and Maven; or set MONGODB_URI/,
      );
    });
  });

  it('is wanted no more when a Ctrl-C ends what fetches it, nor is another engine', async () => {
    reply = () => undefined;
    const dataDir = join(folder, 'data');
    const started = startEmbeddedDatabase({ dataDir, logger, fetch: options() });
    const refused = assert.rejects(started, /install-mongod\.mjs was ended by SIGINT$/);
    await eventually('it is asked for', () => asked.length === 1);
    const fetching = descendants(process.pid).find(({ command }) => command.includes('install-mongod.mjs'));
    process.kill(fetching!.pid, 'SIGINT');
    await refused;
    assert.deepEqual(reported.slice(1), []);
  });

  it('is not taken for data of the other engine, nor the other way round', async () => {
    const dataDir = join(folder, 'data');
    for (const [written, wanted] of [
      ['mongod', 'mongo-java-server'],
      ['mongo-java-server', 'mongod'],
    ] as const) {
      await mkdir(join(dataDir, written), { recursive: true });
      await assert.rejects(
        startEmbeddedDatabase({ dataDir, logger, engine: wanted, fetch: options() }),
        new RegExp(`was written by ${written}, and ${wanted} cannot read it: unset PLATEN_EMBEDDED`),
      );
      await rm(join(dataDir, written), { recursive: true });
    }
    assert.deepEqual(asked, []);
    // Data whose engine cannot be had is not begun anew with another.
    await mkdir(join(dataDir, 'mongod'), { recursive: true });
    reply = (_request, response) => response.writeHead(403).end();
    await assert.rejects(
      startEmbeddedDatabase({ dataDir, logger, fetch: options() }),
      /can be read by nothing else than mongod: put MongoDB's mongod on PATH/,
    );
  });
});

/** Poses as nothing: what is tested is how it comes here. */
const PROGRAM = '#!/bin/sh\nexit 3\n';

/** An archive as MongoDB packs its own. */
async function packed(folder: string): Promise<Buffer> {
  const source = join(folder, 'source');
  await mkdir(join(source, 'mongodb-test/bin'), { recursive: true });
  await writeFile(join(source, 'mongodb-test/bin/mongod'), PROGRAM, { mode: 0o755 });
  await writeFile(join(source, 'mongodb-test/README'), 'x'.repeat(2000));
  const chunks: Buffer[] = [];
  for await (const chunk of pack(source)) chunks.push(chunk as Buffer);
  return gzipSync(Buffer.concat(chunks));
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
