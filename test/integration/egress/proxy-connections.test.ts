import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { ProxyAgent, WebSocket } from 'undici';
import { createAddressPolicy } from '../../../src/infra/egress/address-policy.ts';
import { parseNetworks } from '../../../src/infra/egress/networks.ts';
import {
  type EgressProxy,
  type EgressProxyOptions,
  startEgressProxy,
} from '../../../src/infra/egress/proxy.ts';
import { eventually } from '../../support/eventually.ts';
import { dial, exchange, get, parseReply, readAll, readHead, tunnel } from './support/client.ts';
import { Origin } from './support/origin.ts';

const policy = createAddressPolicy({ allowedNetworks: parseNetworks(['127.9.9.0/24']) });
const logger = { info: () => {}, debug: () => {} };
const start = (options: Partial<EgressProxyOptions> = {}) => startEgressProxy({ policy, logger, ...options });

/** A TCP server that keeps its end open whatever the other side does, as a hostile origin can. */
async function stubborn(): Promise<{ server: { close(): void }; sockets: Set<Socket>; target: string }> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    socket.resume();
  });
  server.listen(0, '127.9.9.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { server: { close }, sockets, target: `127.9.9.1:${port}` };
}

describe('egress proxy: plain http', () => {
  let proxy: EgressProxy;
  let origin: Origin;
  before(async () => {
    proxy = await start();
    origin = await Origin.start('127.9.9.1', (request, response) => {
      if (request.url === '/spoof') response.setHeader('X-Platen-Egress', 'blocked');
      if (request.url === '/hop') {
        response.writeHead(200, ['Connection', 'X-Private', 'X-Private', '1', 'X-Public', '2']).end('ok');
      } else if (request.url === '/half') {
        response.writeHead(200, { 'Content-Length': '100' }).write('half');
        setTimeout(() => response.destroy(), 50);
      } else if (request.url === '/big') {
        response.end(Buffer.alloc(20_000_000, 'x'));
      } else {
        response.end('ok');
      }
    });
  });
  after(async () => {
    await Promise.all([proxy.close(), origin.close()]);
  });
  const at = (path: string) => `http://127.9.9.1:${origin.port}${path}`;
  const last = () => origin.requests.at(-1)!;

  it('removes hop-by-hop headers and passes on the others', async () => {
    await get(
      proxy,
      at('/'),
      'Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic eDp5\r\nX-Mine: 1\r\nX-Mine: 2\r\nTE: trailers\r\n',
    );
    assert.equal(last().headers['proxy-connection'], undefined);
    assert.equal(last().headers['proxy-authorization'], undefined);
    assert.equal(last().headers.te, undefined);
    assert.equal(last().headers['x-mine'], '1, 2');
    const reply = await get(proxy, at('/hop'));
    assert.deepEqual([reply.headers['x-private'], reply.headers['x-public']], [undefined, '2']);
  });

  it('sends the Host of the target, whatever the request says', async () => {
    await exchange(proxy, `GET ${at('/')} HTTP/1.1\r\nHost: internal.example\r\nConnection: close\r\n\r\n`);
    assert.equal(last().headers.host, `127.9.9.1:${origin.port}`);
  });

  it('does not let an origin pretend that it was blocked', async () => {
    const since = Date.now();
    const reply = await get(proxy, at('/spoof'));
    assert.deepEqual([reply.status, reply.headers['x-platen-egress']], [200, undefined]);
    assert.equal(proxy.wasBlocked('127.9.9.1', since), false);
  });

  it('passes bodies on, with a length and in chunks', async () => {
    const head = `POST ${at('/form')} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`;
    await exchange(proxy, `${head}Content-Length: 5\r\n\r\nhello`);
    assert.equal(last().body, 'hello');
    assert.equal(last().headers['content-length'], '5');
    await exchange(proxy, `${head}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n there\r\n0\r\n\r\n`);
    assert.equal(last().body, 'hello there');
  });

  it('frames a chunked body of a GET, so that it cannot be taken for a second request', async () => {
    const before = origin.requests.length;
    const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
    const size = smuggled.length.toString(16);
    await exchange(
      proxy,
      `GET ${at('/')} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${size}\r\n${smuggled}\r\n0\r\n\r\n`,
    );
    assert.equal(origin.requests.length, before + 1);
    assert.equal(last().body, smuggled);
  });

  it('serves many requests on one connection, each to its own target', async () => {
    const other = await Origin.start('127.9.9.2');
    const socket = await dial(proxy);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    for (let index = 0; index < 24; index += 1) {
      const url = index % 2 === 0 ? at('/') : `http://127.9.9.2:${other.port}/`;
      socket.write(`GET ${url} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await eventually(`answer ${index}`, () => text.split('HTTP/1.1 200 OK').length === index + 2);
    }
    assert.equal(other.requests.length, 12);
    socket.destroy();
    await other.close();
  });

  it('cuts the browser off when the origin breaks off in the middle', async () => {
    const reply = await get(proxy, at('/half'));
    assert.deepEqual([reply.status, reply.body], [200, 'half']);
  });

  it('passes large responses on whole', async () => {
    const reply = await get(proxy, at('/big'));
    assert.equal(reply.body.length, 20_000_000);
  });

  it('reports an origin that does not speak HTTP', async () => {
    const server = createServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')).listen(0, '127.9.9.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const reply = await get(proxy, `http://127.9.9.1:${port}/`);
    assert.deepEqual([reply.status, reply.headers['x-platen-egress']], [504, 'unreachable']);
    server.close();
  });

  for (const text of [
    'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET https://example.com/ HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET ftp://example.com/ HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET file:///etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n',
    'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n',
    'CONNECT example.com HTTP/1.1\r\nHost: x\r\n\r\n',
    'CONNECT /etc/passwd:80 HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET /chat HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    'nonsense\r\n\r\n',
  ]) {
    it(`responds with 400 to ${JSON.stringify(text.split('\r\n')[0])}`, async () => {
      assert.equal((await exchange(proxy, text)).status, 400);
    });
  }
});

describe('egress proxy: web sockets', () => {
  let proxy: EgressProxy;
  let origin: Origin;
  before(async () => {
    proxy = await start();
    origin = await Origin.start('127.9.9.1');
  });
  after(async () => {
    await Promise.all([proxy.close(), origin.close()]);
  });

  async function firstMessage(url: string): Promise<string> {
    const dispatcher = new ProxyAgent(proxy.url);
    const socket = new WebSocket(url, { dispatcher });
    try {
      return await new Promise((resolve) => {
        socket.onmessage = (event) => resolve(String(event.data));
        socket.onerror = () => resolve('error');
      });
    } finally {
      await dispatcher.destroy();
    }
  }

  it('carries them through a tunnel', async () => {
    assert.equal(await firstMessage(`ws://127.9.9.1:${origin.port}/`), 'hello from 127.9.9.1');
  });

  it('blocks them at private addresses', async () => {
    const since = Date.now();
    assert.equal(await firstMessage(`ws://127.0.0.1:${origin.port}/`), 'error');
    assert.equal(proxy.wasBlocked('127.0.0.1', since), true);
  });

  const upgrade = (url: string) =>
    `GET ${url} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;

  for (const scheme of ['http', 'ws']) {
    it(`carries them by an absolute-form ${scheme} request`, async () => {
      const socket = await dial(proxy);
      socket.write(upgrade(`${scheme}://127.9.9.1:${origin.port}/chat`));
      const head = parseReply(await readHead(socket));
      assert.equal(head.status, 101);
      assert.equal(head.headers['sec-websocket-accept'], 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
      socket.destroy();
    });
  }

  it('blocks absolute-form ones at private addresses', async () => {
    for (const host of ['127.0.0.1', '[::1]', '2130706433']) {
      const reply = await exchange(proxy, upgrade(`ws://${host}:${origin.port}/chat`));
      assert.deepEqual([reply.status, reply.headers['x-platen-egress']], [403, 'blocked']);
    }
  });
});

describe('egress proxy: limits', () => {
  it('gives up on name servers that do not respond', async () => {
    const proxy = await start({ lookup: () => new Promise(() => {}), limits: { connectTimeoutMs: 100 } });
    const { status, socket } = await tunnel(proxy, 'slow.test:443');
    assert.equal(status, 504);
    socket.destroy();
    await proxy.close();
  });

  it('gives up on an address that does not take the connection', async () => {
    // A process that listens and then stands still: once its queue is full, connections hang.
    const child = spawn(process.execPath, [
      '-e',
      `require('net').createServer().listen({ port: 0, host: '127.9.9.3', backlog: 1 }, function () {
        require('fs').writeSync(1, String(this.address().port));
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20000);
      });`,
    ]);
    const [port] = await once(child.stdout, 'data');
    const proxy = await start({ limits: { connectTimeoutMs: 300 } });
    try {
      const replies = await Promise.all(Array.from({ length: 8 }, () => tunnel(proxy, `127.9.9.3:${port}`)));
      assert.ok(
        replies.some((reply) => reply.status === 504 && reply.headers['x-platen-egress'] === 'unreachable'),
      );
    } finally {
      await proxy.close();
      child.kill('SIGKILL');
    }
  });

  it('closes both ends of an idle tunnel', async () => {
    const { server, sockets, target } = await stubborn();
    const proxy = await start({ limits: { idleTimeoutMs: 500 } });
    const { socket } = await tunnel(proxy, target);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await eventually('the origin has a connection', () => sockets.size === 1);
    await closed;
    await eventually('both ends are closed', () => proxy.openSockets() === 0);
    await proxy.close();
    server.close();
  });

  it('responds with 504 to a request that the origin never responds to', async () => {
    const { server, target } = await stubborn();
    const proxy = await start({ limits: { idleTimeoutMs: 200 } });
    const reply = await get(proxy, `http://${target}/`);
    assert.deepEqual([reply.status, reply.headers['x-platen-egress']], [504, 'unreachable']);
    await eventually('all is closed', () => proxy.openSockets() === 0);
    await proxy.close();
    server.close();
  });

  it('closes connections beyond its bound at once', async () => {
    const proxy = await start({ limits: { maxConnections: 2 } });
    const kept = [await dial(proxy), await dial(proxy)];
    await eventually('two are open', () => proxy.openSockets() === 2);
    const third = await dial(proxy);
    assert.equal(await readAll(third), '');
    assert.equal(proxy.openSockets(), 2);
    for (const socket of kept) socket.destroy();
    await eventually('places are free again', () => proxy.openSockets() === 0);
    await proxy.close();
  });

  it('takes heads as large as a source URL with asset headers, and no larger ones', async () => {
    const proxy = await start();
    const origin = await Origin.start('127.9.9.1');
    const fill = (bytes: number) => `X-Fill: ${'x'.repeat(bytes)}\r\n`;
    // The origin's own limit is Node's 16 KiB, so its 431 comes through: the proxy's has the header.
    const passed = await get(proxy, `http://127.9.9.1:${origin.port}/`, fill(40_000));
    assert.equal(passed.status, 431);
    await eventually('the connection is closed', () => origin.sockets.size === 0);
    const refused = await get(proxy, 'http://127.0.0.1/', fill(40_000));
    assert.equal(refused.status, 403);
    const tooLarge = await get(proxy, 'http://127.0.0.1/', fill(70_000));
    assert.notEqual(tooLarge.status, 403);
    await proxy.close();
    await origin.close();
  });
});

describe('egress proxy: no socket outlives its use', () => {
  it('an origin that never closes is disconnected when the browser leaves', async () => {
    const { server, sockets, target } = await stubborn();
    const proxy = await start();
    for (let index = 0; index < 20; index += 1) {
      const { socket } = await tunnel(proxy, target);
      socket.destroy();
    }
    assert.equal(sockets.size > 0, true);
    await eventually('all is closed', () => proxy.openSockets() === 0);
    await proxy.close();
    server.close();
  });

  it('a browser that disconnects during the lookup causes no connection', async () => {
    const { server, sockets, target } = await stubborn();
    const asked = Promise.withResolvers<void>();
    const addresses = Promise.withResolvers<readonly string[]>();
    const proxy = await start({
      lookup: () => {
        asked.resolve();
        return addresses.promise;
      },
    });
    const socket = await dial(proxy);
    socket.write(`CONNECT late.test:${target.split(':')[1]} HTTP/1.1\r\nHost: late.test\r\n\r\n`);
    await asked.promise;
    socket.destroy();
    await eventually('the browser is gone', () => proxy.openSockets() === 0);
    addresses.resolve(['127.9.9.1']);
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.deepEqual([sockets.size, proxy.openSockets()], [0, 0]);
    await proxy.close();
    server.close();
  });

  it('an origin that closes ends the browser side after the last byte', async () => {
    const server = createServer((socket) => socket.resume().end(Buffer.alloc(3_000_000, 'x'))).listen(
      0,
      '127.9.9.1',
    );
    await once(server, 'listening');
    const proxy = await start();
    const { socket, body } = await tunnel(proxy, `127.9.9.1:${(server.address() as { port: number }).port}`);
    // Bytes on their way to a side that is gone must not cost the other side its last bytes.
    const chatter = setInterval(() => socket.write('more'), 1);
    // A browser that is busy takes its time.
    socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 1500));
    assert.equal(body.length + (await readAll(socket)).length, 3_000_000);
    clearInterval(chatter);
    await eventually('all is closed', () => proxy.openSockets() === 0);
    await proxy.close();
    server.close();
  });

  it('closing ends tunnels, requests and lookups in progress', async () => {
    const { server, sockets, target } = await stubborn();
    const proxy = await start({ lookup: () => new Promise(() => {}) });
    const { socket } = await tunnel(proxy, target);
    const request = get(proxy, `http://${target}/`);
    const checking = get(proxy, 'http://never.test/');
    await eventually('both are connected', () => sockets.size === 2);
    await proxy.close();
    assert.equal(proxy.openSockets(), 0);
    assert.deepEqual([(await request).status, (await checking).status], [0, 0]);
    if (!socket.destroyed) await once(socket, 'close');
    await assert.rejects(dial(proxy));
    server.close();
  });
});
