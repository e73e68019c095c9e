import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { boundConnections } from '../../../src/infra/overload/connections.ts';
import { eventually } from '../../support/eventually.ts';
import { openApi, type TestApi, type TestCaller } from './support/api.ts';
import { latch } from './support/test-worker.ts';

const KIB = 1024;

/** An upload that stalls after its beginning, and its response. */
class Stalled {
  readonly #socket: Socket;
  #text = '';

  constructor(port: number, { secret }: Pick<TestCaller, 'secret'>, bytes: number) {
    this.#socket = connect(port, '127.0.0.1');
    this.#socket.on('error', () => undefined);
    this.#socket.on('data', (chunk) => {
      this.#text += chunk;
    });
    this.#socket.write(
      `POST /v1/pdf HTTP/1.1\r\nHost: platen\r\nContent-Type: application/json\r\nX-API-Key: ${secret}\r\nContent-Length: ${bytes}\r\n\r\n{`,
    );
  }

  /** Status and code. */
  async response(): Promise<string> {
    await eventually('it is answered', async () => /"code":"\w+"/.test(this.#text));
    return `${this.#text.slice('HTTP/1.1 '.length, 12)} ${/"code":"(\w+)"/.exec(this.#text)?.[1]}`;
  }

  get responded(): boolean {
    return this.#text !== '';
  }

  end(): void {
    this.#socket.destroy();
  }
}

describe('Uploads', () => {
  let api: TestApi;
  const open: Stalled[] = [];

  const stalled = (caller: TestCaller, bytes: number) => {
    const upload = new Stalled(api.port, caller, bytes);
    open.push(upload);
    return upload;
  };
  const inFlight = (bytes: number) =>
    eventually(`${bytes} bytes are in flight`, async () => api.bodies.bytesInFlight === bytes);

  afterEach(async () => {
    for (const upload of open.splice(0)) upload.end();
    await api.close();
  });

  it("are bounded for one account, whose further uploads are rejected while another account's are accepted", async () => {
    api = await openApi({ bodyBounds: { perOwner: 300 * KIB, rateWindowMs: 60_000 } });
    const [greedy, other] = [await api.newCaller(), await api.newCaller()];
    for (let i = 0; i < 3; i += 1) stalled(greedy, 100 * KIB);
    await inFlight(300 * KIB);
    const rejected = await greedy.render({ html: '<p>x</p>' });
    assert.deepEqual([rejected.status, rejected.json.code], [429, 'TOO_MANY_UPLOADS']);
    assert.ok(Number(rejected.headers.get('retry-after')) >= 1);
    assert.equal((await other.render({ html: '<p>x</p>' })).status, 200);
    for (const upload of open.splice(0)) upload.end();
    await inFlight(0);
    assert.equal((await greedy.render({ html: '<p>x</p>' })).status, 200);
  });

  it('are bounded for all accounts: the largest sender is evicted for a smaller one', async () => {
    const bounds = { inAll: 500 * KIB, perOwner: 300 * KIB };
    api = await openApi({ bodyBounds: { ...bounds, rateWindowMs: 60_000 } });
    const [most, less, small] = [await api.newCaller(), await api.newCaller(), await api.newCaller()];
    const victims = [stalled(most, 150 * KIB), stalled(most, 150 * KIB)];
    stalled(less, 200 * KIB);
    await inFlight(500 * KIB);
    assert.equal((await small.render({ html: 'x'.repeat(50 * KIB) })).status, 200);
    await eventually('one of them is ended', async () => victims.some(({ responded }) => responded));
    assert.equal(await victims.find(({ responded }) => responded)!.response(), '503 UNAVAILABLE');
    // An account that would hold more than any other is rejected instead.
    await inFlight(350 * KIB);
    const rejected = await small.render({ html: 'x'.repeat(250 * KIB) });
    assert.deepEqual([rejected.status, rejected.json.code], [503, 'UNAVAILABLE']);
  });

  it('are closed when they are too slow', async () => {
    api = await openApi({ bodyBounds: { rateWindowMs: 100 } });
    const upload = stalled(await api.newCaller(), 1000 * KIB);
    assert.equal(await upload.response(), '408 UPLOAD_TOO_SLOW');
    await inFlight(0);
  });

  it('are released once the job is written, while their caller waits for it', async () => {
    api = await openApi();
    const caller = await api.newCaller();
    const gate = latch();
    const claimed = latch();
    api.worker.render = async () => {
      claimed.open();
      await gate.opened;
      return { pages: 1 };
    };
    const reply = caller.render({ html: 'x'.repeat(100 * KIB) });
    await claimed.opened;
    await inFlight(0);
    gate.open();
    assert.equal((await reply).status, 200);
  });

  it('may contain a million names and values at most', async () => {
    api = await openApi();
    const caller = await api.newCaller();
    const rejected = await caller.render(`{"html":"x","data":[${'[],'.repeat(500_001)}[]]}`);
    assert.deepEqual([rejected.status, rejected.json.code], [413, 'INPUT_TOO_LARGE']);
    const names = Array.from({ length: 50_001 }, (_, n) => `"n${n}":1`).join();
    const crowded = await caller.render(`{"html":"x","data":{${names}}}`);
    assert.deepEqual([crowded.status, crowded.json.code], [413, 'INPUT_TOO_LARGE']);
    const faulty = await caller.render(`{"html":"${'\\n'.repeat(2000 * KIB)}`);
    assert.deepEqual([faulty.status, faulty.json.code], [400, 'MALFORMED_JSON']);
  });
});

describe('The validation of a body', () => {
  it('reads a list only until it is too long', async () => {
    const api = await openApi();
    const caller = await api.newCaller();
    const numbers = `[${'1,'.repeat(900_000)}1]`;
    const rejected = await caller.render(`{"html":"x","options":{"metadata":{"keywords":${numbers}}}}`);
    assert.equal(rejected.status, 400);
    assert.deepEqual(rejected.json.message, ['options.metadata.keywords: must hold at most 20 items']);
    const batch = await caller.post('/v1/pdf/batch', `{"items":${numbers}}`);
    assert.deepEqual([batch.status, batch.json.code], [413, 'BATCH_TOO_LARGE']);
    await api.close();
  });
});

describe('Connections', () => {
  it('are bounded, and idle ones are closed for new ones', async () => {
    const server = createServer((_request, response) => response.end('ok'));
    boundConnections(server, { max: 2, inactivityMs: 60_000 }, pino({ level: 'silent' }));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const sockets = [0, 1].map(() => connect(port, '127.0.0.1'));
    for (const socket of sockets) {
      socket.write('GET / HTTP/1.1\r\nHost: platen\r\n\r\n');
      await once(socket, 'data');
    }
    const idleClosed = sockets.map((socket) => once(socket, 'close'));
    const third = connect(port, '127.0.0.1');
    third.on('error', () => undefined);
    await once(third, 'close');
    await Promise.all(idleClosed);
    assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'ok');
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('are closed after a time without traffic, even with unsent data', async () => {
    const responses: ServerResponse[] = [];
    const server = createServer((_request, response) => {
      responses.push(response);
      response.end(Buffer.alloc(64 * 1024 * 1024));
    });
    boundConnections(server, { max: 10, inactivityMs: 3000 }, pino({ level: 'silent' }));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const send = () => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write('GET / HTTP/1.1\r\nHost: platen\r\n\r\n');
      return socket;
    };
    const still = send();
    await once(server, 'request');
    const slow = send();
    await once(server, 'request');
    // This caller reads some bytes from time to time.
    const taking = setInterval(() => slow.read(), 20);
    await once(responses[0]!, 'close');
    await sleep(4000);
    assert.equal(responses[0]!.writableFinished, false);
    assert.equal(responses[1]!.destroyed, false);
    clearInterval(taking);
    for (const socket of [still, slow]) socket.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});
