import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ServerDrain } from '../../../src/roles/process/server-drain.ts';
import { askThrough } from '../../support/kept-connection.ts';

/** Longer than anything here takes. */
const LONG_MS = 10_000;

describe('ServerDrain', () => {
  let server: Server;
  let drain: ServerDrain;
  let agent: Agent;
  let url: string;
  /** Collects the responses that the server holds back; it responds at once when not set. */
  let held: (() => void)[] | undefined;
  beforeEach(async () => {
    held = undefined;
    server = createServer((_request, response) => {
      if (held === undefined) response.end('here');
      else held.push(() => response.end('here'));
    });
    drain = new ServerDrain(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    agent = new Agent({ keepAlive: true, maxSockets: 1 });
  });
  afterEach(() => {
    agent.destroy();
    server.closeAllConnections();
  });

  const ask = () => askThrough(agent, url);

  it('serves the next request on a kept connection, and announces its end', async () => {
    assert.equal((await ask()).headers.connection, 'keep-alive');
    const rested = drain.takeLastRequests(LONG_MS);
    await assert.rejects(askThrough(false, url), { code: 'ECONNREFUSED' });
    const last = await ask();
    assert.deepEqual([last.statusCode, last.headers.connection], [200, 'close']);
    await rested;
    await drain.close();
  });

  it('announces the end in responses under way', async () => {
    held = [];
    const reply = ask();
    while (held.length === 0) await new Promise(setImmediate);
    const rested = drain.takeLastRequests(LONG_MS);
    held[0]!();
    assert.equal((await reply).headers.connection, 'close');
    await rested;
    await drain.close();
  });

  it('waits no longer than allowed for idle callers, and closes their connections then', async () => {
    await ask();
    await drain.takeLastRequests(20);
    const connections = () =>
      new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));
    assert.equal(await connections(), 1);
    await drain.close();
    assert.equal(await connections(), 0);
  });

  it('closes at once on request', async () => {
    await ask();
    await drain.close();
    assert.equal(server.listening, false);
  });
});
