import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createTlsServer, request as httpsRequest } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { fetch, request } from 'undici';
import { StripeGateway } from '../../../src/billing/stripe/stripe-gateway.ts';
import { createAddressPolicy } from '../../../src/infra/egress/address-policy.ts';
import { createGuardedAgent } from '../../../src/infra/egress/guarded-agent.ts';
import { parseNetworks } from '../../../src/infra/egress/networks.ts';
import { type EgressProxy, startEgressProxy } from '../../../src/infra/egress/proxy.ts';
import { type ProxyLookup, upstreamProxy } from '../../../src/infra/egress/upstream-proxy.ts';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { useProxy } from '../../../src/roles/use-proxy.ts';
import { eventually } from '../../support/eventually.ts';
import { CERTIFICATE, PRIVATE_KEY } from './support/certificate.ts';
import { dial, get, parseReply, readHead, tunnel } from './support/client.ts';
import { NameServer } from './support/name-server.ts';
import { Canary, Origin } from './support/origin.ts';
import { Upstream } from './support/upstream.ts';

const policy = createAddressPolicy({ allowedNetworks: parseNetworks(['127.9.9.0/24', 'fd00:9::/64']) });

describe('behind a proxy of the operator', () => {
  let names: NameServer;
  let origin: Origin;
  let canary: Canary;
  let upstream: Upstream;
  let proxies: EgressProxy[];
  let outcomes: string[];

  before(async () => {
    names = await NameServer.start();
    origin = await Origin.start('127.9.9.1');
    canary = await Canary.start('127.0.0.1', '::1');
  });
  after(async () => {
    await Promise.all([names.close(), origin.close(), canary.close()]);
  });
  beforeEach(async () => {
    upstream = await Upstream.start('user:p@ss', { 'theirs.test': '127.9.9.1' });
    proxies = [];
    outcomes = [];
  });
  afterEach(async () => {
    assert.equal(canary.touched, 0, 'something got through');
    await Promise.all([upstream.close(), ...proxies.map((proxy) => proxy.close())]);
  });

  const through = (lookup: ProxyLookup = 'here', noProxy: string[] = [], url = withUser('user:p%40ss')) => ({
    policy,
    lookup: names.lookup(),
    upstream: upstreamProxy(url, noProxy, lookup),
  });
  const withUser = (user: string) => `http://${user}@127.0.0.1:${upstream.port}`;
  async function start(options: ReturnType<typeof through>, connectTimeoutMs?: number): Promise<EgressProxy> {
    const proxy = await startEgressProxy({
      ...options,
      logger: { info: () => {}, debug: () => {} },
      metrics: { outcome: (outcome) => outcomes.push(outcome) },
      ...(connectTimeoutMs === undefined ? {} : { limits: { connectTimeoutMs } }),
    });
    proxies.push(proxy);
    return proxy;
  }

  it('documents reach a name at the address that was checked, in plain http, tunnels and web sockets', async () => {
    names.set('public.test', ['127.9.9.1']);
    const proxy = await start(through());
    const { body } = await get(proxy, `http://public.test:${origin.port}/`);
    assert.equal(body, 'hello from 127.9.9.1');
    assert.equal(origin.requests.at(-1)?.headers.host, `public.test:${origin.port}`);
    const { status, socket } = await tunnel(proxy, `public.test:${origin.port}`);
    assert.equal(status, 200);
    socket.destroy();
    const client = await dial(proxy);
    client.write(
      `GET ws://public.test:${origin.port}/ HTTP/1.1\r\nHost: public.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    );
    assert.equal(parseReply(await readHead(client)).status, 101);
    client.destroy();
    assert.deepEqual(new Set(upstream.asked), new Set([`127.9.9.1:${origin.port}`]));
    assert.equal(outcomes[0], 'connected');
  });

  it('addresses that are not open never reach the proxy, by name or in the address', async () => {
    names.set('private.test', ['127.0.0.1']);
    names.set('mixed.test', ['127.9.9.1', '10.0.0.1']);
    const proxy = await start(through());
    for (const host of [
      '127.0.0.1',
      '[::1]',
      '169.254.169.254',
      'localhost',
      'private.test',
      'mixed.test',
      'missing.test',
    ])
      assert.notEqual((await get(proxy, `http://${host}:${canary.port}/`)).status, 200, host);
    assert.deepEqual(upstream.asked, []);
  });

  it('names are sent to a proxy that is to look them up, and private ones are not', async () => {
    const proxy = await start(through('proxy'));
    const { body } = await get(proxy, `http://theirs.test:${origin.port}/`);
    assert.equal(body, 'hello from 127.9.9.1');
    assert.deepEqual(upstream.asked, [`theirs.test:${origin.port}`]);
    assert.deepEqual(
      names.questions.filter((question) => question.endsWith('theirs.test')),
      [],
    );
    for (const host of [
      '127.0.0.1',
      '2130706433',
      'localhost',
      'a.localhost',
      'mongodb',
      'metadata.google.internal',
      'printer.local',
    ])
      assert.notEqual((await get(proxy, `http://${host}:${canary.port}/`)).status, 200, host);
    assert.equal((await get(proxy, 'http://theirs.test:25/')).status, 403);
    assert.deepEqual(upstream.asked, [`theirs.test:${origin.port}`]);
  });

  it('exceptions are connected to directly, and checked', async () => {
    names.set('near.corp.test', ['127.9.9.1']);
    names.set('inner.corp.test', ['127.0.0.1']);
    const proxy = await start(through('proxy', ['corp.test']));
    assert.equal((await get(proxy, `http://near.corp.test:${origin.port}/`)).body, 'hello from 127.9.9.1');
    assert.equal((await get(proxy, `http://inner.corp.test:${canary.port}/`)).status, 502);
    assert.deepEqual(upstream.asked, []);
  });

  it('a proxy that refuses, is away, or hangs leaves targets unreachable, and is not shown to documents', async () => {
    const silent = createServer(() => {});
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const free = await Upstream.start();
    await free.close();
    for (const url of [withUser('user:wrong'), free.url, `http://127.0.0.1:${port}`]) {
      const proxy = await start(through('here', [], url), 1000);
      const reply = await get(proxy, `http://127.9.9.1:${origin.port}/`);
      assert.deepEqual([reply.status, reply.headers['x-platen-egress']], [504, 'unreachable']);
      assert.equal(reply.body, '127.9.9.1 does not respond.\n');
    }
    assert.deepEqual(outcomes, ['proxy', 'proxy', 'proxy']);
    silent.close();
  });

  it('another address is tried when the proxy cannot reach the first', async () => {
    names.set('both.test', ['127.9.9.77', '127.9.9.1']);
    const proxy = await start(through());
    assert.equal((await get(proxy, `http://both.test:${origin.port}/`)).body, 'hello from 127.9.9.1');
    assert.deepEqual(upstream.asked, [`127.9.9.77:${origin.port}`, `127.9.9.1:${origin.port}`]);
  });

  it('a tunnel ends with its browser', async () => {
    const proxy = await start(through());
    const others = new Set(origin.sockets);
    const { socket } = await tunnel(proxy, `127.9.9.1:${origin.port}`);
    const own = () => [...origin.sockets].filter((each) => !others.has(each)).length;
    await eventually('the origin is connected', () => own() === 1);
    socket.destroy();
    await eventually('all is closed', () => own() === 0 && proxy.openSockets() === 0);
  });

  it('callbacks reach a checked address with the name for SNI and certificate, and no private one', async () => {
    const server = createTlsServer({ key: PRIVATE_KEY, cert: CERTIFICATE }, (_, response) =>
      response.end('taken'),
    );
    server.listen(0, '127.9.9.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    names.set('callbacks.test', ['127.9.9.1']);
    names.set('other.test', ['127.9.9.1']);
    const agent = createGuardedAgent({ ...through(), ca: CERTIFICATE });
    const post = (url: string) => request(url, { method: 'POST', body: '{}', dispatcher: agent });
    try {
      const { statusCode, body } = await post(`https://callbacks.test:${port}/hook`);
      assert.deepEqual([statusCode, await body.text()], [200, 'taken']);
      assert.deepEqual(upstream.asked, [`127.9.9.1:${port}`]);
      await assert.rejects(post(`https://other.test:${port}/`), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
      const plain = await post(`http://127.9.9.1:${origin.port}/`);
      assert.equal(await plain.body.text(), 'hello from 127.9.9.1');
      await assert.rejects(
        post(`https://127.0.0.1:${canary.port}/`),
        (error) => error instanceof PlatenError && error.code === 'URL_BLOCKED',
      );
    } finally {
      await agent.destroy();
      server.closeAllConnections();
      server.close();
    }
  });

  it('the operator’s own addresses are reached through it as well, but for loopback and exceptions', async () => {
    const stop = useProxy({ HTTPS_PROXY: withUser('user:p%40ss'), NO_PROXY: ['direct.test'] });
    try {
      const stripe = new StripeGateway({
        secretKey: 'sk_test_1',
        apiBase: 'https://stripe.test',
        timeoutMs: 5000,
      });
      await assert.rejects(stripe.subscriptions('cus_1'));
      await assert.rejects(globalThis.fetch('https://issuer.test/', { signal: AbortSignal.timeout(1000) }));
      await assert.rejects(fetch(`https://localhost:${origin.port}/`));
      await assert.rejects(fetch('https://direct.test/', { signal: AbortSignal.timeout(1000) }));
      await assert.rejects(
        new Promise((resolve, reject) => {
          httpsRequest('https://other.test/', resolve).on('error', reject).end();
        }),
      );
    } finally {
      stop();
    }
    assert.deepEqual(
      new Set(upstream.asked),
      new Set(['stripe.test:443', 'issuer.test:443', 'other.test:443']),
    );
  });
});
