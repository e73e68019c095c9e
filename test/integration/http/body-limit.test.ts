import assert from 'node:assert/strict';
import { request } from 'node:http';
import { connect } from 'node:net';
import { callApi, type TestCaller, useApi } from './support/api.ts';

const LIMIT = 64 * 1024;

describe('the limit of a body', () => {
  const api = useApi({ plan: { maxInputSizeBytes: LIMIT } });
  let caller: TestCaller;

  before(async () => {
    caller = await api.newCaller();
  });

  /** JSON with exactly this number of bytes. */
  const bodyOf = (bytes: number) => JSON.stringify({ html: 'x'.repeat(bytes - '{"html":""}'.length) });

  it("is the plan's, to the byte", async () => {
    assert.equal((await caller.render(bodyOf(LIMIT))).status, 200);
    const reply = await caller.render(bodyOf(LIMIT + 1));
    assert.equal(reply.status, 413);
    assert.equal(reply.json.code, 'INPUT_TOO_LARGE');
    assert.match(reply.json.message, /65536 bytes/);
  });

  it('is small where no credential is required', async () => {
    const login = (spaces: number) =>
      callApi(api.url, 'POST', '/auth/login', `{"email":"a@example.com"${' '.repeat(spaces)}}`);
    const rest = '{"email":"a@example.com"}'.length;
    // The password is missing.
    assert.equal((await login(64 * 1024 - rest)).status, 400);
    const reply = await login(64 * 1024 - rest + 1);
    assert.deepEqual([reply.status, reply.json.code], [413, 'INPUT_TOO_LARGE']);
  });

  it('counts bytes, not characters', async () => {
    const characters = LIMIT / 2 - 2;
    assert.ok(characters < LIMIT);
    assert.equal((await caller.render({ html: '€'.repeat(characters) })).status, 413);
  });

  it('is held while a body of unknown length is read', async () => {
    const reply = await chunked(api.port, caller.secret, 'x'.repeat(16 * 1024), 64);
    assert.equal(reply.status, 413);
  });

  it('does not reset the connection of a caller that sends on, whatever its length', async () => {
    for (const chunks of [100, 2000]) {
      const reply = await chunked(api.port, caller.secret, 'x'.repeat(16 * 1024), chunks);
      assert.equal(reply.status, 413);
      assert.equal(reply.sent, chunks, 'everything was taken off the wire');
    }
  });

  it('can be read by a caller that wants the connection closed', async () => {
    const body = bodyOf(8 * 1024 * 1024);
    const head = [
      'POST /v1/pdf HTTP/1.1',
      'Host: platen',
      'Connection: close',
      'Content-Type: application/json',
      `X-API-Key: ${caller.secret}`,
      `Content-Length: ${body.length}`,
    ].join('\r\n');
    const reply = await raw(api.port, `${head}\r\n\r\n${body}`);
    assert.match(reply, /^HTTP\/1\.1 413 /);
    assert.match(reply, /INPUT_TOO_LARGE/);
  });

  it('leaves the connection fit for the next request', async () => {
    const body = bodyOf(LIMIT * 4);
    const post = `POST /v1/pdf HTTP/1.1\r\nHost: platen\r\nContent-Type: application/json\r\nX-API-Key: ${caller.secret}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const reply = await raw(
      api.port,
      `${post}GET /healthz HTTP/1.1\r\nHost: platen\r\nConnection: close\r\n\r\n`,
    );
    assert.match(reply, /^HTTP\/1\.1 413 [\s\S]*HTTP\/1\.1 200 OK/);
  });

  it('is read only after the credential is checked: nothing is read for a stranger', async () => {
    const reply = await chunked(api.port, 'sk_live_nobody', 'x'.repeat(16 * 1024), 64);
    assert.equal(reply.status, 401);
  });

  it('lets go of a caller that never ends its body', async () => {
    const socket = connect(api.port, '127.0.0.1');
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => undefined);
    socket.resume();
    socket.write(
      `POST /v1/pdf HTTP/1.1\r\nHost: platen\r\nContent-Type: application/json\r\nX-API-Key: ${caller.secret}\r\nContent-Length: 1000000\r\n\r\n{`,
    );
    await closed;
  });
});

/** Sends a body in chunks, waiting for each to be accepted; resolves with the response when all chunks are sent. */
function chunked(
  port: number,
  key: string,
  chunk: string,
  chunks: number,
): Promise<{ status: number; sent: number }> {
  return new Promise((resolve, reject) => {
    let sent = 0;
    let status: number | undefined;
    const done = () => status !== undefined && sent === chunks && resolve({ status, sent });
    const outgoing = request({
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: '/v1/pdf',
      headers: { 'x-api-key': key, 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
    });
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      response.resume().on('end', () => {
        status = response.statusCode;
        done();
      });
    });
    const next = () => {
      if (sent === chunks) {
        outgoing.end();
        done();
        return;
      }
      outgoing.write(chunk, (error) => {
        if (error) return reject(error);
        sent += 1;
        next();
      });
    };
    next();
  });
}

/** Sends bytes; resolves with all received bytes when the other side has closed the connection. */
function raw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let reply = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (chunk) => {
      reply += chunk.toString();
    });
    socket.on('error', reject);
    socket.on('end', () => resolve(reply));
  });
}
