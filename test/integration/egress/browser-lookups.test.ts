import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAddressPolicy } from '../../../src/infra/egress/address-policy.ts';
import { type Lookup, systemLookup } from '../../../src/infra/egress/lookup.ts';
import { parseNetworks } from '../../../src/infra/egress/networks.ts';
import { type EgressProxy, startEgressProxy } from '../../../src/infra/egress/proxy.ts';
import type { Renderer } from '../../../src/render/renderer.ts';
import { eventually } from '../../support/eventually.ts';
import { NameServer } from './support/name-server.ts';
import { Origin } from './support/origin.ts';
import { rendererBehind } from './support/renderer-behind.ts';

const ATTACKERS = 6;
const NEVER_MS = 600_000;
const PICTURE = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>`;

/** A document that names 300 hosts of which no name server says anything. */
const nameless = (account: string) =>
  `${Array.from({ length: 200 }, (_, i) => `<img src="http://silent.n${i}.${account}.test/x.png">`).join('')}
  <script>for (let i = 0; i < 100; i++) new WebSocket('ws://silent.w' + i + '.${account}.test/')</script>`;

describe('name lookups for documents of many accounts', () => {
  let names: NameServer;
  let origin: Origin;
  let proxy: EgressProxy;
  let renderer: Renderer;
  let folder: string;
  /** Pending look-ups, by account. */
  const pending = new Map<string | undefined, number>();

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'platen-lookups-'));
    names = await NameServer.start();
    origin = await Origin.start('127.0.0.1', (_request, response) => {
      response.setHeader('content-type', 'image/svg+xml');
      response.end(PICTURE);
    });
    names.set('pictures.test', ['127.0.0.1']);
    // A look-up without a response from a name server does not end before it is aborted.
    const lookup = systemLookup(() => names.resolver({ timeout: NEVER_MS, tries: 1 }));
    const counted: Lookup = async (name, signal, asker) => {
      pending.set(asker, (pending.get(asker) ?? 0) + 1);
      try {
        return await lookup(name, signal, asker);
      } finally {
        pending.set(asker, pending.get(asker)! - 1);
      }
    };
    proxy = await startEgressProxy({
      policy: createAddressPolicy({ allowedNetworks: parseNetworks(['127.0.0.0/8']) }),
      lookup: counted,
      limits: { connectTimeoutMs: NEVER_MS },
      logger: { info: () => {}, debug: () => {} },
    });
    renderer = await rendererBehind(proxy, ATTACKERS + 1, folder);
  });
  after(async () => {
    await renderer?.close();
    await Promise.all([proxy?.close(), origin?.close(), names?.close()]);
    rmSync(folder, { recursive: true, force: true });
  });

  const render = (accountId: string, html: string, signal = new AbortController().signal) =>
    renderer.render({
      jobId: accountId,
      accountId,
      source: { kind: 'html', html },
      options: {},
      deadline: Date.now() + NEVER_MS,
      maxOutputBytes: 10_000_000,
      signal,
    });

  it('are shared fairly, so that an account gets its picture despite a neighbour with hundreds of slow ones', async () => {
    const over = new AbortController();
    const accounts = Array.from({ length: ATTACKERS }, (_, i) => `attacker${i}`);
    let ended = 0;
    const attacks = accounts.map((account) =>
      render(account, nameless(account), over.signal).catch(() => {
        ended += 1;
      }),
    );
    await eventually('all of them have names looked up, more than there are places for', () =>
      accounts.every((account) => (pending.get(account) ?? 0) > 60),
    );
    await render('neighbour', `<img src="http://pictures.test:${origin.port}/x.svg">`);
    assert.equal(origin.requests.length, 1, 'the neighbour’s PDF has no picture');
    assert.equal(pending.get('neighbour'), 0);
    assert.equal(ended, 0, 'it waited for none of them');
    over.abort();
    await Promise.all(attacks);
    await eventually('what was looked up for them has been given up', () =>
      accounts.every((account) => pending.get(account) === 0),
    );
    // A document whose look-up is rejected at once would have no picture.
    assert.ok(!pending.has(undefined), 'of every look-up it was known whose it was');
  });
});
