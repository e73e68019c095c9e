import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ServerDrain } from '../../../src/roles/server-drain.ts';
import { askThrough } from '../../support/kept-connection.ts';

/** Longer than anything here takes. */
const LONG_MS = 10_000;

describe('ServerDrain', () => {
  let server: Server;
  let drain: ServerDrain;
  let agent: Agent;
  let url: string;
  /** Called by the server to answer; at once when not set. */
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

  it('answers what comes over a kept connection, and says that it was the last', async () => {
    assert.equal((await ask()).headers.connection, 'keep-alive');
    const rested = drain.takeLastRequests(LONG_MS);
    await assert.rejects(askThrough(false, url), { code: 'ECONNREFUSED' });
    const last = await ask();
    assert.deepEqual([last.statusCode, last.headers.connection], [200, 'close']);
    await rested;
    await drain.close();
  });

  it('says so to those that are being answered', async () => {
    held = [];
    const answer = ask();
    while (held.length === 0) await new Promise(setImmediate);
    const rested = drain.takeLastRequests(LONG_MS);
    held[0]!();
    assert.equal((await answer).headers.connection, 'close');
    await rested;
    await drain.close();
  });

  it('waits no longer than it is told for callers that rest, and closes their connections then', async () => {
    await ask();
    await drain.takeLastRequests(20);
    const connections = () =>
      new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));
    assert.equal(await connections(), 1);
    await drain.close();
    assert.equal(await connections(), 0);
  });

  it('closes at once, when that is what is asked for', async () => {
    await ask();
    await drain.close();
    assert.equal(server.listening, false);
  });
});
