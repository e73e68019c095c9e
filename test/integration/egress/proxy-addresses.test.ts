import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createAddressPolicy } from '../../../src/infra/egress/address-policy.ts';
import { parseNetworks } from '../../../src/infra/egress/networks.ts';
import { type EgressProxy, startEgressProxy } from '../../../src/infra/egress/proxy.ts';
import { eventually } from '../../support/eventually.ts';
import { dial, get, type Reply, tunnel } from './support/client.ts';
import { NameServer } from './support/name-server.ts';
import { Canary, Origin } from './support/origin.ts';

/** Stands for the public internet, which is not to be had in a test; the rest of loopback is private as ever. */
const PUBLIC_NETWORK = '127.9.9.0/24';

describe('egress proxy: where connections go', () => {
  let names: NameServer;
  let origin: Origin;
  let canary: Canary;
  let proxy: EgressProxy;
  const outcomes: string[] = [];
  const logged: object[] = [];

  before(async () => {
    names = await NameServer.start();
    origin = await Origin.start('127.9.9.1');
    canary = await Canary.start('127.0.0.1', '::1', '127.9.8.1');
    proxy = await startEgressProxy({
      policy: createAddressPolicy({ allowedNetworks: parseNetworks([PUBLIC_NETWORK]) }),
      lookup: names.lookup(),
      logger: { info: (fields) => logged.push(fields), debug: () => {} },
      metrics: { outcome: (outcome) => outcomes.push(outcome) },
    });
  });
  after(async () => {
    await Promise.all([proxy.close(), origin.close(), canary.close(), names.close()]);
  });
  afterEach(() => {
    assert.equal(canary.touched, 0, 'something got through');
  });

  async function bothWays(host: string, port: number): Promise<Reply[]> {
    const { socket, ...viaTunnel } = await tunnel(proxy, `${host}:${port}`);
    socket.destroy();
    return [viaTunnel, await get(proxy, `http://${host}:${port}/secret?q`)];
  }

  async function assertBlocked(host: string, port = canary.port): Promise<void> {
    const before = Date.now();
    for (const reply of await bothWays(host, port)) {
      assert.equal(reply.status, 403, host);
      assert.equal(reply.headers['x-platen-egress'], 'blocked');
      assert.match(reply.body, /^[^\n]+ may not be reached\.\n$/);
    }
    const { hostname } = new URL(`http://${host}/`);
    assert.equal(proxy.wasBlocked(hostname, before), true);
    assert.equal(proxy.wasBlocked(hostname, Date.now() + 1), false);
    assert.equal(proxy.wasUnresolvable(hostname, 0), false);
  }

  /** Checks that a refused name is reported exactly as one that does not exist. */
  async function assertHidden(name: string, port = canary.port): Promise<void> {
    const before = Date.now();
    const reported = async (host: string) =>
      (await bothWays(host, port)).map(({ status, headers, body }) => {
        const { date: _, ...rest } = headers;
        return { status, headers: { ...rest, 'content-length': '' }, body: body.replace(host, 'NAME') };
      });
    assert.deepEqual(await reported(name), await reported('missing.test'));
    assert.equal(proxy.wasUnresolvable(name, before), true);
    assert.equal(proxy.wasBlocked(name, 0), false);
  }

  it('connects to the address of a public name, by either method', async () => {
    names.set('public.test', ['127.9.9.1']);
    const reply = await get(proxy, `http://public.test:${origin.port}/a?b=c`);
    assert.deepEqual([reply.status, reply.body], [200, 'hello from 127.9.9.1']);
    assert.equal(origin.requests.at(-1)!.headers.host, `public.test:${origin.port}`);
    assert.equal(origin.requests.at(-1)!.url, '/a?b=c');

    const { status, socket } = await tunnel(proxy, `public.test:${origin.port}`);
    assert.equal(status, 200);
    assert.equal([...origin.sockets].filter((peer) => peer.localAddress === '127.9.9.1').length > 0, true);
    socket.destroy();
    assert.equal(proxy.wasBlocked('public.test', 0), false);
    assert.deepEqual(outcomes.slice(0, 2), ['connected', 'connected']);
  });

  for (const host of [
    '127.9.9.1',
    '2131298561',
    '0x7f.9.9.1',
    '0177.011.011.1',
    '[::ffff:127.9.9.1]',
    '[::ffff:7f09:901]',
  ]) {
    it(`connects to ${host}, an open address`, async () => {
      const { status, socket } = await tunnel(proxy, `${host}:${origin.port}`);
      socket.destroy();
      assert.equal(status, 200);
      const reply = await get(proxy, `http://${host}:${origin.port}/`);
      assert.equal(reply.body, 'hello from 127.9.9.1');
    });
  }

  for (const host of [
    '127.0.0.1',
    '2130706433',
    '0x7f000001',
    '017700000001',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '127.0.0.1.',
    '0',
    '0.0.0.0',
    '127.9.8.1',
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::ffff:0:127.0.0.1]',
    '[::127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    '[64:ff9b:1::127.0.0.1]',
    '[2002:7f00:1::1]',
    '[fe80::1]',
    '[fd00::1]',
    '[ff02::1]',
    '10.0.0.1',
    '100.64.0.1',
    '172.16.0.1',
    '192.168.0.1',
    '169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    '[::ffff:169.254.169.254]',
    '[fd00:ec2::254]',
    '168.63.129.16',
    '224.0.0.1',
    '255.255.255.255',
    '240.0.0.1',
    '198.18.0.1',
  ]) {
    it(`blocks ${host}`, () => assertBlocked(host));
  }

  const hostileNames: Readonly<Record<string, readonly string[]>> = {
    'loopback.test': ['127.0.0.1'],
    'loopback6.test': ['::1'],
    'private.test': ['10.0.0.1'],
    'metadata.test': ['169.254.169.254'],
    'mapped.test': ['::ffff:127.0.0.1'],
    'nat64.test': ['64:ff9b::7f00:1'],
    'zero.test': ['0.0.0.0'],
    'public-then-private.test': ['127.9.9.1', '127.0.0.1'],
    'private-then-public.test': ['127.0.0.1', '127.9.9.1'],
    'public4-private6.test': ['127.9.9.1', '::1'],
    'many.test': [...Array.from({ length: 20 }, (_, index) => `127.9.9.${index + 1}`), '127.0.0.1'],
  };
  for (const [name, addresses] of Object.entries(hostileNames)) {
    it(`blocks ${name}, which resolves to ${addresses.slice(-2).join(' and ')}`, async () => {
      names.set(name, addresses);
      await assertHidden(name);
    });
  }

  it('logs which address was blocked, and reports nothing to the page', async () => {
    names.set('secretive.test', ['10.1.2.3']);
    const reply = await get(proxy, 'http://secretive.test/path');
    assert.equal(reply.body, 'There is no host called secretive.test.\n');
    assert.deepEqual(logged.at(-1), {
      host: 'secretive.test',
      port: 80,
      code: 'blocked',
      detail: '10.1.2.3: 10.0.0.0/8 (private use, RFC 1918)',
    });
  });

  it('queries name servers once for each connection, and connects to the checked address', async () => {
    names.set('rebind.test', [['127.9.9.1'], ['127.0.0.1']]);
    const first = await get(proxy, `http://rebind.test:${origin.port}/`);
    assert.equal(first.body, 'hello from 127.9.9.1');
    assert.equal(names.asked('A', 'rebind.test'), 1);
    await assertHidden('rebind.test', origin.port);
    assert.equal(names.asked('A', 'rebind.test'), 3);
  });

  it('keeps an open tunnel to its checked address while the name changes', async () => {
    names.set('rebind-tunnel.test', [['127.9.9.1'], ['127.0.0.1']]);
    const { status, socket } = await tunnel(proxy, `rebind-tunnel.test:${origin.port}`);
    assert.equal(status, 200);
    await assertHidden('rebind-tunnel.test', origin.port);
    const before = origin.requests.length;
    socket.write(`GET /later HTTP/1.1\r\nHost: rebind-tunnel.test\r\nConnection: close\r\n\r\n`);
    await new Promise((resolve) => socket.once('data', resolve));
    assert.equal(origin.requests.length, before + 1);
    socket.destroy();
  });

  it('lets a name through again once it is public', async () => {
    names.set('moving.test', [['127.0.0.1'], ['127.0.0.1'], ['127.9.9.1']]);
    await assertHidden('moving.test', origin.port);
    const reply = await get(proxy, `http://moving.test:${origin.port}/`);
    assert.equal(reply.status, 200);
  });

  it('tries the next address when one does not respond', async () => {
    names.set('half-down.test', ['127.9.9.77', '127.9.9.1']);
    const reply = await get(proxy, `http://half-down.test:${origin.port}/`);
    assert.equal(reply.body, 'hello from 127.9.9.1');
  });

  it('distinguishes a name that does not exist from one that could not be resolved', async () => {
    const since = Date.now();
    for (const reply of await bothWays('missing.test', 80)) {
      assert.deepEqual([reply.status, reply.headers['x-platen-egress']], [502, 'unresolvable']);
      assert.equal(reply.body, 'There is no host called missing.test.\n');
    }
    for (const name of ['silent.test', 'broken.test']) {
      for (const reply of await bothWays(name, 80)) {
        assert.deepEqual([reply.status, reply.headers['x-platen-egress']], [504, 'unreachable'], name);
      }
    }
    assert.equal(proxy.wasUnresolvable('missing.test', since), true);
    assert.equal(proxy.wasUnresolvable('MISSING.test.', since), true);
    assert.equal(proxy.wasUnresolvable('silent.test', since), false);
    assert.equal(proxy.wasUnresolvable('broken.test', since), false);
    assert.equal(proxy.wasBlocked('missing.test', since), false);
  });

  it('distinguishes an open address without a listener from a blocked one', async () => {
    const since = Date.now();
    for (const reply of await bothWays('127.9.9.200', 9998)) {
      assert.deepEqual([reply.status, reply.headers['x-platen-egress']], [504, 'unreachable']);
    }
    assert.equal(proxy.wasBlocked('127.9.9.200', since), false);
  });

  it('blocks the ports of other protocols at open addresses', async () => {
    for (const port of [22, 25, 6000, 6667]) await assertBlocked('127.9.9.1', port);
  });

  it('checks every hop of a redirect', async () => {
    const redirecting = await Origin.start('127.9.9.2', (_request, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${canary.port}/` }).end();
    });
    const hop = await get(proxy, `http://127.9.9.2:${redirecting.port}/`);
    assert.equal(hop.status, 302);
    const next = await get(proxy, hop.headers.location!);
    assert.equal(next.status, 403);
    await redirecting.close();
  });

  it('connects to IPv6 addresses that are open, and to no others', async () => {
    const six = await Origin.start('::1');
    names.set('six.test', ['::1']);
    const open = await startEgressProxy({
      policy: createAddressPolicy({ allowedNetworks: parseNetworks(['::1/128']) }),
      lookup: names.lookup(),
      logger: { info: () => {}, debug: () => {} },
    });
    for (const host of ['[::1]', 'six.test']) {
      const reply = await get(open, `http://${host}:${six.port}/`);
      assert.deepEqual([reply.status, reply.body], [200, 'hello from ::1'], host);
    }
    assert.equal((await get(open, `http://127.0.0.1:${six.port}/`)).status, 403);
    await open.close();
    await six.close();
  });

  it('ends the lookup of a name when the browser has disconnected', async () => {
    const asked = Promise.withResolvers<AbortSignal>();
    const waiting = await startEgressProxy({
      policy: createAddressPolicy({ allowedNetworks: [] }),
      lookup: async (_name, signal) => {
        asked.resolve(signal!);
        await once(signal!, 'abort');
        throw signal!.reason;
      },
      logger: { info: () => {}, debug: () => {} },
    });
    const socket = await dial(waiting);
    socket.write('CONNECT slow.test:443 HTTP/1.1\r\nHost: slow.test:443\r\n\r\n');
    const signal = await asked.promise;
    assert.equal(signal.aborted, false);
    socket.destroy();
    await eventually('the look-up is given up', () => signal.aborted);
    await waiting.close();
  });

  it('never connects to itself, even where loopback is open', async () => {
    const open = await startEgressProxy({
      policy: createAddressPolicy({ allowedNetworks: parseNetworks(['127.0.0.0/8', '0.0.0.0/8']) }),
      logger: { info: () => {}, debug: () => {} },
    });
    const port = new URL(open.url).port;
    for (const host of ['127.0.0.1', '127.3.2.1', '0.0.0.0', '[::ffff:127.0.0.1]', 'localhost']) {
      const reply = await get(open, `http://${host}:${port}/`);
      assert.deepEqual([reply.status, reply.headers['x-platen-egress']], [403, 'blocked'], host);
    }
    await open.close();
  });
});
