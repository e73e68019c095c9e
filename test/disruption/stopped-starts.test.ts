import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WORKER_TEMPLATE } from '../support/kubernetes/controller-process.ts';
import { startRole } from '../support/processes.ts';

describe('A process whose database accepts its connection and says nothing', () => {
  let server: Server;
  let folder: string;
  let environment: Record<string, string>;
  const sockets = new Set<Socket>();

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-stopped-starts-'));
    const template = join(folder, 'worker-template.yaml');
    await writeFile(template, WORKER_TEMPLATE);
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    environment = {
      // Nothing but the signal ends the wait.
      MONGODB_URI: `mongodb://127.0.0.1:${port}/platen?serverSelectionTimeoutMS=3600000&connectTimeoutMS=3600000`,
      KAFKA_BROKERS: '127.0.0.1:1',
      PLATEN_SECRET: 's'.repeat(32),
      PLATEN_DATA_DIR: folder,
      PLATEN_WORKER_TEMPLATE_FILE: template,
      POD_NAME: 'pod-0',
      POD_NAMESPACE: 'default',
    };
  });
  after(async () => {
    for (const socket of sockets) socket.destroy();
    server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  // A command that was interrupted has not done what it was asked for.
  for (const [role, code] of Object.entries({ api: 0, dispatcher: 0, controller: 0, migrate: 1 })) {
    it(`obeys SIGTERM while it starts: ${role}`, async () => {
      const connected = once(server, 'connection');
      const process = await startRole(role, environment);
      await connected;
      assert.equal(await process.end(), code);
    });
  }
});
