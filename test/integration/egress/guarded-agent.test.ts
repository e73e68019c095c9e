import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type Agent, fetch, request } from 'undici';
import { createAddressPolicy } from '../../../src/infra/egress/address-policy.ts';
import { createGuardedAgent } from '../../../src/infra/egress/guarded-agent.ts';
import { parseNetworks } from '../../../src/infra/egress/networks.ts';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { CERTIFICATE, PRIVATE_KEY } from './support/certificate.ts';
import { NameServer } from './support/name-server.ts';
import { Canary, Origin } from './support/origin.ts';

interface Arrival {
  readonly servername: string | false | null;
  readonly host: string | undefined;
  readonly localAddress: string | undefined;
}

describe('guarded agent', () => {
  let names: NameServer;
  let server: Server;
  let canary: Canary;
  let agent: Agent;
  let port: number;
  const arrivals: Arrival[] = [];

  before(async () => {
    names = await NameServer.start();
    canary = await Canary.start('127.0.0.1', '::1');
    server = createServer({ key: PRIVATE_KEY, cert: CERTIFICATE }, (incoming, response) => {
      const socket = incoming.socket as TLSSocket;
      const { servername, localAddress } = socket as TLSSocket & { servername: string | false };
      arrivals.push({ servername, host: incoming.headers.host, localAddress });
      if (incoming.url === '/away')
        response.writeHead(307, { location: `https://127.0.0.1:${canary.port}/` });
      response.end('taken');
    });
    server.listen(0, '127.9.9.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
    agent = createGuardedAgent({
      policy: createAddressPolicy({ allowedNetworks: parseNetworks(['127.9.9.0/24']) }),
      lookup: names.lookup(),
      connectTimeoutMs: 10_000,
      ca: CERTIFICATE,
    });
  });
  after(async () => {
    await agent.destroy();
    server.closeAllConnections();
    server.close();
    await Promise.all([canary.close(), names.close()]);
  });
  afterEach(() => assert.equal(canary.touched, 0, 'something got through'));

  const post = (url: string) => request(url, { method: 'POST', body: '{}', dispatcher: agent });

  async function assertRefused(url: string, code: string, permanent = false): Promise<void> {
    await assert.rejects(post(url), (error) => {
      assert.ok(error instanceof PlatenError, String(error));
      assert.deepEqual([error.code, error.permanent], [code, permanent], url);
      return true;
    });
  }

  it('connects to the checked address, with the name for SNI, certificate and Host', async () => {
    names.set('callbacks.test', ['127.9.9.1']);
    const { statusCode, body } = await post(`https://callbacks.test:${port}/hook`);
    assert.deepEqual([statusCode, await body.text()], [200, 'taken']);
    assert.deepEqual(arrivals.at(-1), {
      servername: 'callbacks.test',
      host: `callbacks.test:${port}`,
      localAddress: '127.9.9.1',
    });
    assert.equal(names.asked('A', 'callbacks.test'), 1);
  });

  it('connects to open literal addresses', async () => {
    const { statusCode } = await post(`https://127.9.9.1:${port}/hook`);
    assert.equal(statusCode, 200);
  });

  it('does not accept a certificate for another name', async () => {
    names.set('other.test', ['127.9.9.1']);
    await assert.rejects(post(`https://other.test:${port}/`), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  });

  for (const host of [
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '169.254.169.254',
    '10.0.0.1',
  ]) {
    it(`blocks https://${host}`, () => assertRefused(`https://${host}:${canary.port}/`, 'URL_BLOCKED'));
  }

  it('blocks names with a private address, alone or among others, and does not reveal which', async () => {
    names.set('private.test', ['127.0.0.1']);
    names.set('private6.test', ['::1']);
    names.set('mixed.test', ['127.9.9.1', '127.0.0.1']);
    for (const name of ['private.test', 'private6.test', 'mixed.test']) {
      // As for a name that does not exist: the error does not reveal that it does.
      await assertRefused(`https://${name}:${canary.port}/`, 'URL_UNREACHABLE', true);
    }
    for (const name of ['private.test', 'missing.test'])
      await assert.rejects(post(`https://${name}/`), { message: `There is no host called ${name}.` });
  });

  it('is not misled by a name that changes between lookups', async () => {
    names.set('rebind.test', [['127.9.9.1'], ['127.0.0.1']]);
    await assert.rejects(post(`https://rebind.test:${port}/`), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
    assert.equal(names.asked('A', 'rebind.test'), 1);
    await assertRefused(`https://rebind.test:${canary.port}/`, 'URL_UNREACHABLE', true);
  });

  it('checks every hop of a redirect that fetch follows', async () => {
    names.set('callbacks.test', ['127.9.9.1']);
    await assert.rejects(fetch(`https://callbacks.test:${port}/away`, { dispatcher: agent }), (error) => {
      assert.ok(error instanceof TypeError && error.cause instanceof PlatenError);
      assert.equal(error.cause.code, 'URL_BLOCKED');
      return true;
    });
  });

  it('blocks the ports of other protocols', () => assertRefused('https://127.9.9.1:25/', 'URL_BLOCKED'));

  it('distinguishes a name that does not exist from one that cannot be resolved', async () => {
    await assertRefused('https://missing.test/', 'URL_UNREACHABLE', true);
    await assertRefused('https://broken.test/', 'URL_UNREACHABLE');
  });

  it('tries the next address when one does not respond', async () => {
    const second = await Origin.start('127.9.9.5');
    names.set('half-down.test', ['127.9.9.77', '127.9.9.5']);
    const { statusCode } = await post(`http://half-down.test:${second.port}/`);
    assert.equal(statusCode, 200);
    await second.close();
  });
});
