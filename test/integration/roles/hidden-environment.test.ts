import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROGRAM } from '../../support/program.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SECRET = 'known-to-nobody-else';

describe('The environment of a process that starts browsers', () => {
  let folder: string;
  let server: Server;
  let child: ChildProcess;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-hidden-'));
    // A database that says nothing keeps the process where it is.
    server = createServer(() => {}).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(async () => {
    server.close();
    await rm(folder, { recursive: true, force: true });
  });
  afterEach(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });

  const start = (role: string, more: NodeJS.ProcessEnv): ChildProcess => {
    const { PATH, HOME } = process.env;
    const env = { PATH, HOME, TMPDIR: folder, PLATEN_OPS_PORT: '0', ...more };
    child = spawn(process.execPath, [PROGRAM, role], {
      cwd: ROOT,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return child;
  };
  const shown = (name: string) => readFileSync(`/proc/${child.pid}/${name}`, 'latin1');

  it('shows no secret to other processes of its user, under the same pid, and leaves no file', async () => {
    const connected = once(server, 'connection');
    const { port } = server.address() as { port: number };
    start('worker', {
      MONGODB_URI: `mongodb://user:${SECRET}@127.0.0.1:${port}/platen`,
      KAFKA_BROKERS: '127.0.0.1:1',
      KAFKA_SASL_MECHANISM: 'plain',
      KAFKA_SASL_USERNAME: 'worker',
      KAFKA_SASL_PASSWORD: SECRET,
    });
    // It knows where its database is.
    await connected;
    assert.ok(existsSync(`/proc/${child.pid}`), 'it is the process that was started');
    assert.match(shown('environ'), /KAFKA_BROKERS=/);
    for (const name of ['environ', 'cmdline']) assert.ok(!shown(name).includes(SECRET), name);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('platen-start-')),
      [],
    );
  });

  it('is read unchanged', async () => {
    start('worker', { MONGODB_URI: SECRET, PLATEN_SECRET: 'short' });
    let said = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    // Once all its output is read.
    await once(child, 'close');
    assert.equal(child.exitCode, 1);
    assert.match(said, /PLATEN_SECRET: must have 32 characters or more/);
    assert.match(said, /KAFKA_BROKERS: required by the role worker/);
    assert.doesNotMatch(said, /MONGODB_URI: required/);
  });
});
