import assert from 'node:assert/strict';
import { createAddressPolicy } from '../../../src/infra/egress/address-policy.ts';
import type { Lookup } from '../../../src/infra/egress/lookup.ts';
import { parseNetworks } from '../../../src/infra/egress/networks.ts';
import { type EgressLimits, type EgressProxy, startEgressProxy } from '../../../src/infra/egress/proxy.ts';
import { eventually } from '../../support/eventually.ts';
import { dial, get, readAll } from './support/client.ts';
import { Origin } from './support/origin.ts';

describe('listeners of the egress proxy', () => {
  let proxy: EgressProxy;
  let origin: Origin;
  /** The account of each look-up, by name. */
  const askers = new Map<string, string | undefined>();
  const lookup: Lookup = async (name, _signal, asker) => {
    askers.set(name, asker);
    return ['127.9.9.1'];
  };
  const start = (limits: Partial<EgressLimits> = {}) =>
    startEgressProxy({
      policy: createAddressPolicy({ allowedNetworks: parseNetworks(['127.0.0.0/8']) }),
      logger: { info: () => {}, debug: () => {} },
      lookup,
      limits,
    });
  before(async () => {
    origin = await Origin.start('127.9.9.1');
    proxy = await start();
  });
  after(async () => {
    await Promise.all([proxy.close(), origin.close()]);
  });

  it('show whose document resolves a name, once a context has an account', async () => {
    const [first, second] = [await proxy.openListener(), await proxy.openListener()];
    second.accountId = 'second';
    await get(first, `http://nobody.test:${origin.port}/`);
    first.accountId = 'first';
    await get(first, `http://one.test:${origin.port}/`);
    await get(second, `http://two.test:${origin.port}/`);
    await get(proxy, `http://all.test:${origin.port}/`);
    assert.deepEqual(Object.fromEntries(askers), {
      'nobody.test': undefined,
      'one.test': 'first',
      'two.test': 'second',
      'all.test': undefined,
    });
  });

  it('have a bound of their own on connections, below the proxy’s', async () => {
    const bounded = await start({ maxConnections: 3, maxConnectionsOfContext: 2, keptForContext: 1 });
    const [first, second] = [await bounded.openListener(), await bounded.openListener()];
    const kept = [await dial(first), await dial(first)];
    await eventually('two are open', () => bounded.openSockets() === 2);
    assert.equal(await readAll(await dial(first)), '');
    kept.push(await dial(second));
    await eventually('another has a place', () => bounded.openSockets() === 3);
    assert.equal(await readAll(await dial(second)), '', 'the proxy has as many as it may have');
    kept.push(await dial(await bounded.openListener()));
    await eventually('but for the first of each context', () => bounded.openSockets() === 4);
    for (const socket of kept) socket.destroy();
    await eventually('places are free again', () => bounded.openSockets() === 0);
    await bounded.close();
  });

  it('lead to no listener of the same proxy', async () => {
    const [first, second] = [await proxy.openListener(), await proxy.openListener()];
    for (const target of [first, second, proxy])
      assert.equal((await get(first, `${target.url}/`)).status, 403);
  });

  it('take no connection once they are closed, nor when the proxy is', async () => {
    const brief = await start();
    const [first, second] = [await brief.openListener(), await brief.openListener()];
    first.close();
    first.close();
    await assert.rejects(dial(first), { code: 'ECONNREFUSED' });
    (await dial(second)).destroy();
    await brief.close();
    await assert.rejects(dial(second), { code: 'ECONNREFUSED' });
  });
});
