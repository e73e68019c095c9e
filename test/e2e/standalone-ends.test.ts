import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { TestClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { assertGone, descendants, identify, type RoleProcess, startRole } from '../support/processes.ts';
import { PROGRAM } from '../support/program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const terminal = fileURLToPath(new URL('../support/terminal.py', import.meta.url));
const KEY = `sk_live_${'given-by-the-operator-0123456789'.padEnd(40, 'x')}`;
const BOOTSTRAP = {
  PLATEN_BOOTSTRAP_EMAIL: 'first@example.com',
  PLATEN_BOOTSTRAP_API_KEY: KEY,
  // With which it starts in the least time.
  PLATEN_WORKER_SLOTS: '1',
};
/** Long enough to be under way when the process is told to end. */
const SLOW = { html: '<p>slow</p>', options: { delayMs: 3500 } };
/** Long enough to be still under way when it is told so a second time, later. */
const SLOWER = { html: '<p>slower</p>', options: { delayMs: 7000 } };
/** Of two signals, so that the second counts as one that comes later: more than it takes by a second on a busy machine. */
const LATER_MS = 2000;

describe('the end of a standalone service', () => {
  let dataDir: string;
  let running: RoleProcess | undefined;
  /** Jobs that the services before have finished, which the next one has to know. */
  const finished: string[] = [];
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'platen ends '));
  });
  afterEach(async () => {
    await running?.end();
    running = undefined;
  });
  after(async () => {
    // Where no test has started another one since.
    if (finished.length > 0) await start();
    await running?.end();
    await rm(dataDir, { recursive: true, force: true });
  });
  const start = async (environment: Record<string, string> = {}) => {
    running = await startRole('standalone', { PLATEN_DATA_DIR: dataDir, ...BOOTSTRAP, ...environment });
    await running.ready();
    const client = new TestClient(running.url, KEY);
    for (const jobId of finished.splice(0))
      assert.equal((await client.call('GET', `/v1/pdf/jobs/${jobId}`)).json.status, 'completed');
    return client;
  };
  /** A job that a worker holds at this moment. */
  const submitHeld = async (client: TestClient, body: Record<string, unknown> = SLOW) => {
    const jobId = await client.submit(body);
    await eventually('the job is being rendered', async () => {
      return (await client.call('GET', `/v1/pdf/jobs/${jobId}`)).json.status === 'processing';
    });
    return jobId;
  };

  it('is in good order after SIGHUP, however often it comes: the render under way is finished', async () => {
    const client = await start();
    const jobId = await submitHeld(client);
    const family = descendants(running!.pid);
    for (let i = 0; i < 3; i += 1) running!.signal('SIGHUP');
    assert.equal(await running!.ended, 0);
    await assertGone(family);
    assert.ok(running!.logs.some(({ msg, signal }) => msg === 'stopping' && signal === 'SIGHUP'));
    finished.push(jobId);
  });

  it('is in good order when SIGTERM comes twice at once, as from a process group and from make in it', async () => {
    const client = await start();
    const jobId = await submitHeld(client);
    running!.signal('SIGTERM');
    await sleep(50);
    running!.signal('SIGTERM');
    assert.equal(await running!.ended, 0);
    finished.push(jobId);
  });

  it('comes at once when a signal comes again later: whoever sends it has no patience left', async () => {
    const client = await start();
    await submitHeld(client, SLOWER);
    const family = descendants(running!.pid);
    running!.signal('SIGINT');
    // From when it has heard of the first.
    await running!.logged(({ msg }) => msg === 'stopping');
    await sleep(LATER_MS);
    running!.signal('SIGINT');
    assert.equal(await running!.ended, 1);
    await assertGone(family);
  });

  it('is the same when its terminal is closed', async () => {
    const port = await freePort();
    const { child, lines } = spawnPlaten('python3', [terminal, process.execPath], port);
    const pid = Number((await lines.next()).value);
    const client = new TestClient(`http://127.0.0.1:${port}`, KEY);
    await untilReady(client);
    const jobId = await submitHeld(client);
    const family = [identify(pid), ...descendants(pid)];
    assert.ok(family.length >= 3, 'a database and a browser at least');
    child.stdin!.end();
    assert.equal((await lines.next()).value, '0');
    await assertGone(family);
    finished.push(jobId);
  });

  it('does not come from stdout and stderr being closed: it goes on without a log', async () => {
    const port = await freePort();
    const { child } = spawnPlaten(process.execPath, [], port);
    child.stdout!.destroy();
    child.stderr!.destroy();
    const client = new TestClient(`http://127.0.0.1:${port}`, KEY);
    await untilReady(client);
    for (let i = 0; i < 3; i += 1)
      assert.equal((await client.render({ html: '<p>unlogged</p>' })).status, 200);
    // One that spins, over what it cannot write, never sleeps.
    await eventually('it sleeps', () => sleeps(child.pid!));
    const family = descendants(child.pid!);
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    await assertGone(family);
  });

  it('comes with a clear line when its database has ended', async () => {
    const client = await start();
    const jobId = await submitHeld(client);
    const database = Number(await readFile(join(dataDir, 'mongo-java-server/database.mv.pid'), 'utf8'));
    const family = descendants(running!.pid);
    // The embedded database writes behind by up to a second: what is younger dies with it.
    await sleep(2500);
    // From now on it may end by itself.
    running!.signal('SIGCONT');
    process.kill(database, 'SIGKILL');
    assert.equal(await running!.ended, 1);
    await assertGone(family);
    const reported = running!.output.find((line) => line.startsWith('platen standalone ends:'));
    assert.match(
      reported ?? '',
      new RegExp(`the embedded database \\(process ${database}\\) has ended with SIGKILL$`),
    );
    const again = await start({ PLATEN_LEASE_MS: '1000', PLATEN_SWEEP_MS: '200' });
    assert.equal((await again.end(jobId)).status, 'completed');
    await running!.end();
  });

  describe('at its start, in one line', () => {
    const rejection = async (environment: NodeJS.ProcessEnv): Promise<string> => {
      const refused = await startRole('standalone', {
        PLATEN_DATA_DIR: dataDir,
        ...BOOTSTRAP,
        ...environment,
      });
      // It may end by itself.
      refused.signal('SIGCONT');
      assert.equal(await refused.ended, 1);
      const lines = refused.output.filter((line) => line !== '');
      assert.equal(lines.length, 1, lines.join('\n'));
      return lines[0]!;
    };

    it('when another one uses the data folder: which, and who', async () => {
      await start();
      const database = Number(await readFile(join(dataDir, 'mongo-java-server/database.mv.pid'), 'utf8'));
      assert.equal(
        await rejection({}),
        `platen standalone cannot start: The data folder ${dataDir}/mongo-java-server is in use by another database process (process ${database}): end what has started it, or set PLATEN_DATA_DIR to another folder.`,
      );
    });

    it('when its port is taken', async () => {
      const other = createServer().listen(0, '0.0.0.0');
      await once(other, 'listening');
      const { port } = other.address() as { port: number };
      assert.match(
        await rejection({ PORT: `${port}` }),
        new RegExp(`start: PORT ${port} is taken: .* Set PORT`),
      );
      other.close();
    });

    it('when there is no Java', async () => {
      // Where there is no data yet: that of a database can be read by nothing else, which the line says then.
      const empty = join(dataDir, 'empty');
      const line = await rejection({ PATH: '/nowhere', JAVA_HOME: '/nowhere', PLATEN_DATA_DIR: empty });
      assert.match(
        line,
        /needs Java 17 or newer, and there is no java on PATH nor in JAVA_HOME.* MONGODB_URI/,
      );
    });

    it('when the data folder cannot be one', async () => {
      const file = join(dataDir, 'a file');
      await writeFile(file, '');
      assert.match(
        await rejection({ PLATEN_DATA_DIR: join(file, 'data') }),
        /a file.data: not a directory \(ENOTDIR\)\. PLATEN_DATA_DIR .* must be a folder that this user may write to/,
      );
    });

    it('when the database file is none, or of a newer version', async () => {
      const folder = join(dataDir, 'odd');
      await mkdir(join(folder, 'mongo-java-server'), { recursive: true });
      const file = join(folder, 'mongo-java-server/database.mv');
      await writeFile(file, 'this is no database\n'.repeat(1000));
      assert.match(
        await rejection({ PLATEN_DATA_DIR: folder }),
        /The database file .*database\.mv cannot be opened: /,
      );
    });

    it('when the browser that was named is none', async () => {
      assert.match(
        await rejection({ PLATEN_CHROMIUM_PATH: '/nowhere/chrome' }),
        /start: The browser .nowhere.chrome/,
      );
    });

    it('when the address is none of this machine', async () => {
      assert.match(await rejection({ PLATEN_HOST: '192.0.2.1' }), /PLATEN_HOST 192\.0\.2\.1 .*EADDRNOTAVAIL/);
    });
  });

  /** As `startRole`, below another program, and with nobody who reads what it writes. */
  function spawnPlaten(program: string, args: readonly string[], port: number) {
    const child: ChildProcess = spawn(program, [...args, PROGRAM, 'standalone'], {
      cwd: root,
      env: { ...process.env, ...BOOTSTRAP, PLATEN_DATA_DIR: dataDir, PORT: `${port}` },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stderr!.resume();
    return { child, lines: createInterface({ input: child.stdout! })[Symbol.asyncIterator]() };
  }
});

function untilReady(client: TestClient): Promise<void> {
  return eventually('ready', () =>
    client.call('GET', '/readyz').then(
      ({ status }) => status === 200,
      () => false,
    ),
  );
}

/** Whether a process's first thread waits each time that it is looked at. */
async function sleeps(pid: number): Promise<boolean> {
  for (let checks = 0; checks < 5; checks += 1) {
    const [, state] = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ');
    if (!state!.startsWith('S')) return false;
    await sleep(10);
  }
  return true;
}
