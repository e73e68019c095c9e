import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUILD } from '../../src/infra/version.ts';
import { startMongo } from '../support/mongo.ts';
import { freePort } from '../support/ports.ts';
import { type RoleProcess, startRole } from '../support/processes.ts';

const OPERATIONS = ['/healthz', '/readyz', '/metrics'];
/** Nobody listens there: an API is ready all the same, and a dispatcher is not. */
const NO_BROKER = '127.0.0.1:1';

describe('The port of operations', () => {
  let environment: Record<string, string>;
  let dataDir: string;
  let running: RoleProcess | undefined;
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'platen-ops-'));
    environment = {
      MONGODB_URI: (await startMongo()).uri,
      PLATEN_DATA_DIR: dataDir,
      PLATEN_OPS_PORT: String(await freePort()),
    };
  });
  afterEach(async () => {
    await running?.end();
    running = undefined;
  });
  after(() => rm(dataDir, { recursive: true, force: true }));

  const statusesAt = async (url: string) =>
    Promise.all(OPERATIONS.map(async (path) => (await fetch(`${url}${path}`)).status));
  const versionAt = async (url: string) =>
    (await (await fetch(`${url}/version`)).json()) as Record<string, string>;
  const started = async (role: string, more: Record<string, string> = {}) => {
    running = await startRole(role, { ...environment, ...more });
    await running.logged(({ msg }) => msg === 'ready');
    return { url: running.url, opsUrl: `http://127.0.0.1:${environment.PLATEN_OPS_PORT}` };
  };

  for (const role of ['standalone', 'api']) {
    it(`has them alone when ${role} is given one, and the port of the API has them no more`, async () => {
      const { url, opsUrl } = await started(role, {
        KAFKA_BROKERS: NO_BROKER,
        PLATEN_SECRET: 's'.repeat(32),
      });
      assert.deepEqual(await statusesAt(opsUrl), [200, 200, 200]);
      assert.deepEqual(await statusesAt(url), [404, 404, 404]);
      assert.equal((await fetch(`${opsUrl}/openapi.json`)).status, 404);
      assert.deepEqual(Object.keys(await versionAt(url)), ['version']);
      const { version, commit, node, browser } = await versionAt(opsUrl);
      assert.deepEqual({ version, node }, { version: BUILD.version, node: BUILD.node });
      // What was bundled in a checkout has its commit, with `-dirty` where files were changed; sources that run as they are
      // do not know it.
      assert.match(String(commit), /^(unknown|[0-9a-f]{40}(-dirty)?)$/);
      assert.equal(typeof browser, role === 'standalone' ? 'string' : 'undefined');
      const ready = await running!.logged(({ msg }) => msg === 'ready');
      assert.deepEqual([ready.version, ready.commit], [version, commit]);
      const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: object };
      assert.deepEqual(
        Object.keys(paths).filter((path) => OPERATIONS.includes(path)),
        [],
      );
    });
  }

  it('is the only one of a dispatcher, which needs no secret', async () => {
    const { url, opsUrl } = await started('dispatcher', { KAFKA_BROKERS: NO_BROKER });
    assert.deepEqual(await statusesAt(opsUrl), [200, 503, 200]);
    await assert.rejects(fetch(`${url}/healthz`));
  });

  it('is named when another program has it', async () => {
    const other = createServer().listen(Number(environment.PLATEN_OPS_PORT), '0.0.0.0');
    try {
      running = await startRole('dispatcher', { ...environment, KAFKA_BROKERS: NO_BROKER });
      await running.ended;
      assert.match(running.output.join('\n'), /PLATEN_OPS_PORT \d+ is taken/);
    } finally {
      other.close();
      running = undefined;
    }
  });
});
