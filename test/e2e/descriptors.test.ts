import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { type RoleProcess, startRole } from '../support/processes.ts';

const KEY = `sk_live_${'given-by-the-operator-0123456789'.padEnd(40, 'x')}`;
const LIMIT = 256;

describe('a standalone service without a file descriptor left', () => {
  let dataDir: string;
  let service: RoleProcess;
  let client: TestClient;
  const open: Socket[] = [];

  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'platen-descriptors-'));
    service = await startRole('standalone', {
      PLATEN_DATA_DIR: dataDir,
      PLATEN_BOOTSTRAP_EMAIL: 'first@example.com',
      PLATEN_BOOTSTRAP_API_KEY: KEY,
    });
    await service.ready();
    client = new TestClient(service.url, KEY);
  });
  after(async () => {
    for (const socket of open) socket.destroy();
    await service?.end();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('says so in its log and in its metrics, and goes on when there are some again', async () => {
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    for (const name of ['process_open_fds', 'process_max_fds'])
      assert.match(metrics, new RegExp(`^${name}\\{role="standalone"\\} [1-9]`, 'm'));
    execFileSync('prlimit', ['--pid', `${service.pid}`, `--nofile=${LIMIT}:${LIMIT}`]);
    for (let n = 0; n < LIMIT + 150; n += 1) {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1').on('error', () => {});
      open.push(socket);
      await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
    }
    const { open: said, limit } = await service.logged(({ msg }) =>
      /no file descriptor is left/.test(String(msg)),
    );
    assert.deepEqual([said, limit], [LIMIT, LIMIT]);
    for (const socket of open) socket.destroy();
    await service.logged(({ msg }) => msg === 'there are enough file descriptors again');
    await eventually(
      'it renders',
      async () => (await client.render({ html: '<p>again</p>' })).status === 200,
    );
    const times = service.logs.filter(({ msg }) => /no file descriptor is left/.test(String(msg)));
    assert.equal(times.length, 1);
  });
});
