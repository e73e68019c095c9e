import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { setImmediate as immediate } from 'node:timers/promises';
import {
  BoundedPipe,
  LARGE_RESPONSE,
  MAX_MESSAGE_BYTES,
  SESSION_LIMITS,
} from '../../../src/render/chromium/process/bounded-pipe.ts';

const SESSION = 'A'.repeat(32);
const report = (method: string, params: object, sessionId = SESSION) =>
  JSON.stringify({ method, params, sessionId });

describe('the pipe to a browser', () => {
  let read: PassThrough;
  let pipe: BoundedPipe;
  let received: string[];
  let limitExceeded: string[];
  beforeEach(() => {
    read = new PassThrough({ highWaterMark: 2 ** 30 });
    pipe = new BoundedPipe(new PassThrough(), read);
    received = [];
    limitExceeded = [];
    pipe.onmessage = (message) => received.push(message);
  });

  /** What the browser writes, in pieces as they come. */
  async function write(text: string, pieceBytes = 64 * 1024): Promise<void> {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += pieceBytes) read.write(bytes.subarray(at, at + pieceBytes));
    for (let i = 0; i < 4; i++) await immediate();
  }
  const count = () => pipe.count(SESSION, (what) => limitExceeded.push(what));

  it('sends what is sent at once in one write, in its order and before it closes', async () => {
    const write = new PassThrough();
    const sending = new BoundedPipe(write, read);
    const writes: string[] = [];
    write.on('data', (chunk: Buffer) => writes.push(chunk.toString()));
    await Promise.resolve();
    sending.send('one');
    sending.send('two');
    await Promise.resolve();
    sending.send('three');
    await immediate();
    assert.deepEqual(writes, ['one\0two\0three\0']);
    sending.send('four');
    sending.close();
    sending.send('five');
    await immediate();
    assert.deepEqual(writes, ['one\0two\0three\0', 'four\0']);
  });

  it('delivers messages one by one, wherever the pieces end', async () => {
    const messages = ['{"id":1,"result":{}}', report('Page.x', { text: 'ä'.repeat(50) }), '{"id":2}'];
    for (const bytes of [1, 7, 64, 10_000]) {
      received.length = 0;
      await write(messages.map((message) => `${message}\0`).join(''), bytes);
      for (let i = 0; i < 400 && received.length < 3; i++) await immediate();
      assert.deepEqual(received, messages);
    }
  });

  it('delivers a message of the largest size, and drops one that is a byte larger', async () => {
    const largest = `{"id":1,"result":"${'x'.repeat(MAX_MESSAGE_BYTES - 20)}"}`;
    assert.equal(largest.length, MAX_MESSAGE_BYTES);
    await write(`${largest}\0`);
    assert.deepEqual(received, [largest]);
    await write(`${largest.replace('x', 'xx')}\0{"id":2}\0`);
    assert.deepEqual(received, [largest, '{"id":2}']);
  });

  it('gives up the session that a message too large belongs to, and no other', async () => {
    const body = 'x'.repeat(MAX_MESSAGE_BYTES);
    for (const message of [
      report('Fetch.requestPaused', { body }),
      JSON.stringify({ id: 7, result: { body }, sessionId: SESSION }),
    ]) {
      limitExceeded.length = 0;
      const counted = count();
      await write(`${message}\0${report('Page.after', {})}\0`);
      assert.deepEqual(limitExceeded, [`a message of more than ${MAX_MESSAGE_BYTES} bytes`]);
      counted.stop();
    }
    const other = report('Page.other', {}, 'B'.repeat(32));
    await write(`${other}\0`);
    assert.deepEqual(received, [other]);
  });

  it('fails the command whose response is too large, if its session wants that, and goes on', async () => {
    const counted = count();
    counted.failLargeResponses(true);
    const response = (id: number, result: string) => JSON.stringify({ id, result, sessionId: SESSION });
    await write(`${response(7, 'x'.repeat(MAX_MESSAGE_BYTES))}\0${response(8, 'x')}\0`);
    const failed = { id: 7, error: { code: -32000, message: LARGE_RESPONSE }, sessionId: SESSION };
    assert.deepEqual(received, [JSON.stringify(failed), response(8, 'x')]);
    assert.deepEqual(limitExceeded, []);
    counted.failLargeResponses(false);
    await write(`${response(9, 'x'.repeat(MAX_MESSAGE_BYTES))}\0`);
    assert.deepEqual(limitExceeded, [`a message of more than ${MAX_MESSAGE_BYTES} bytes`]);
    assert.equal(received.length, 2);
  });

  it('leaves out a report of the network that is too large, and goes on', async () => {
    count();
    const after = report('Page.after', {});
    await write(`${report('Network.requestWillBeSent', { url: 'x'.repeat(MAX_MESSAGE_BYTES) })}\0${after}\0`);
    assert.deepEqual([received, limitExceeded], [[after], []]);
  });

  it('gives up a session that reports without end, and begins to count anew for another document', async () => {
    const counted = count();
    const flood = `${report('Page.x', {})}\0`.repeat(SESSION_LIMITS.events);
    await write(flood);
    assert.deepEqual(limitExceeded, []);
    counted.reset();
    await write(flood);
    assert.deepEqual(limitExceeded, []);
    await write(`${report('Page.x', {})}\0`.repeat(3));
    assert.deepEqual(limitExceeded, [`more than ${SESSION_LIMITS.events} events`]);
    assert.equal(received.length, 2 * SESSION_LIMITS.events);
  });

  it('counts what its workers report as its own, until another document comes', async () => {
    const counted = count();
    const half = SESSION_LIMITS.events / 2;
    const flood = (sessionId: string, events: number) =>
      write(`${report('Network.x', {}, sessionId)}\0`.repeat(events));
    for (const letter of ['B', 'C']) {
      counted.include(letter.repeat(32));
      await flood(letter.repeat(32), half);
    }
    assert.deepEqual(limitExceeded, []);
    counted.reset();
    await flood('B'.repeat(32), half + 1);
    counted.include('D'.repeat(32));
    await flood('D'.repeat(32), half + 1);
    assert.deepEqual(limitExceeded, []);
    await flood(SESSION, half);
    assert.deepEqual(limitExceeded, [`more than ${SESSION_LIMITS.events} events`]);
  });

  it('gives up a session that reports more bytes than it may, and does not count responses', async () => {
    count();
    const text = 'x'.repeat(4 * 1024 * 1024);
    const pieces = SESSION_LIMITS.bytes / text.length;
    for (let i = 0; i < pieces; i++)
      await write(`${JSON.stringify({ id: i, result: { text }, sessionId: SESSION })}\0`);
    assert.deepEqual([received.length, limitExceeded], [pieces, []]);
    for (let i = 0; i < pieces; i++) await write(`${report('Network.dataReceived', { text })}\0`);
    assert.deepEqual(limitExceeded, [`events of more than ${SESSION_LIMITS.bytes} bytes`]);
  });

  it('gives up a session that web sockets flood', async () => {
    count();
    const text = 'x'.repeat(1024 * 1024);
    for (let i = 0; i < 8; i++) await write(`${report('Network.webSocketFrameReceived', { text })}\0`);
    assert.deepEqual(limitExceeded, [`web-socket frames of more than ${SESSION_LIMITS.frameBytes} bytes`]);
  });

  it('does not parse the events that report each new title and address', async () => {
    await write('{"method":"Target.targetInfoChanged","params":{}}\0{"id":1}\0');
    assert.deepEqual(received, ['{"id":1}']);
  });

  it('reports when the browser has ended, and sends nothing after that', async () => {
    let closed = 0;
    pipe.onclose = () => closed++;
    read.destroy();
    await immediate();
    await immediate();
    assert.equal(closed, 1);
    pipe.send('{"id":1}');
  });
});
