import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import express from 'express';
import { onHangUp } from '../../../src/http/request/hang-up.ts';

const LISTENERS = 20;

describe('A caller that hangs up', () => {
  const warnings: Error[] = [];
  const warned = (warning: Error) => warnings.push(warning);
  before(() => process.on('warning', warned));
  after(() => process.off('warning', warned));

  /** Resolves with how often a listener was called, once the response has been closed. */
  async function calls(responses: boolean): Promise<number> {
    let called = 0;
    const closed = Promise.withResolvers<void>();
    const app = express().get('/', async (_request, response) => {
      response.once('close', closed.resolve);
      for (let count = 0; count < LISTENERS; count += 1) onHangUp(response, () => (called += 1));
      if (responses) await pipeline(Readable.from(['the answer']), response);
      else response.write('the first of it');
    });
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: platen.example\r\nConnection: close\r\n\r\n');
    await once(socket, 'data');
    if (!responses) socket.destroy();
    socket.resume();
    await closed.promise;
    socket.destroy();
    server.close();
    return called;
  }

  it('is reported once to each listener', async () => {
    assert.equal(await calls(false), LISTENERS);
  });

  it('is not reported when the whole response was sent', async () => {
    assert.equal(await calls(true), 0);
  });

  it('does not cause a warning of Node', () => {
    assert.deepEqual(warnings, []);
  });
});
