import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { CLIENT, SERVER } from '../support/certificates.ts';
import { LEAST, over, render } from './support/helm.ts';
import { environment, podSpec } from './support/pods.ts';

const ROLES = ['api', 'dispatcher', 'controller', 'worker'];
const VALUES = over(LEAST, {
  mongodb: { tls: { ca: 'PEM' } },
  extraCa: { existingSecret: { name: 'authority', key: 'tls.crt' }, existingConfigMap: { name: 'bundle' } },
});

describe('authorities that every process trusts', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-authorities-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('are mounted in every role, beside the one of the database', async () => {
    const manifests = await render('helm4', VALUES);
    for (const role of ROLES) {
      const { volumes, containers } = podSpec(manifests, role);
      const { sources } = volumes.find(({ name }: { name: string }) => name === 'extra-ca').projected;
      assert.deepEqual(sources, [
        { secret: { name: 'authority', items: [{ key: 'tls.crt', path: 'secret.crt' }] } },
        { configMap: { name: 'bundle', items: [{ key: 'ca.crt', path: 'config-map.crt' }] } },
      ]);
      const mount = containers[0].volumeMounts.find(({ name }: { name: string }) => name === 'extra-ca');
      const given = environment(manifests, role);
      assert.deepEqual([mount.mountPath, mount.readOnly], [given.SSL_CERT_DIR, true], role);
      assert.equal(given.NODE_EXTRA_CA_CERTS, '/etc/platen/tls/mongodb/ca.crt');
    }
    const without = environment(await render('helm4', LEAST), 'api');
    assert.deepEqual([without.SSL_CERT_DIR, without.NODE_USE_SYSTEM_CA], [undefined, undefined]);
  });

  it('are trusted by Node with the variables of the chart, in a folder as the kubelet lays it', async () => {
    const { NODE_USE_SYSTEM_CA, SSL_CERT_DIR, NODE_EXTRA_CA_CERTS } = environment(
      await render('helm4', VALUES),
      'api',
    );
    const extra = join(folder, SSL_CERT_DIR!);
    await mkdir(join(extra, '..2026'), { recursive: true });
    await writeFile(join(extra, '..2026', 'secret.crt'), SERVER.cert);
    await symlink('..2026', join(extra, '..data'));
    await symlink('..data/secret.crt', join(extra, 'secret.crt'));
    const database = join(folder, NODE_EXTRA_CA_CERTS!);
    await mkdir(join(database, '..'), { recursive: true });
    await writeFile(database, CLIENT.cert);

    const server = createServer(SERVER, (_, response) => response.end('there')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const ask = async (env: Record<string, string>) => {
      const script = `
        const { getCACertificates } = require('node:tls');
        fetch(${JSON.stringify(url)}).then((response) => response.text(), (error) => error.cause.code).then((said) => {
          const all = getCACertificates('default');
          const kept = getCACertificates('bundled').every((one) => all.includes(one));
          console.log(JSON.stringify({ said, kept, own: all.includes(${JSON.stringify(CLIENT.cert)}.trim()) || all.includes(${JSON.stringify(CLIENT.cert)}) }));
        });`;
      const child = spawn(process.execPath, ['-e', script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
      return JSON.parse(await text(child.stdout));
    };
    try {
      const chart = {
        NODE_USE_SYSTEM_CA: NODE_USE_SYSTEM_CA!,
        SSL_CERT_DIR: extra,
        NODE_EXTRA_CA_CERTS: database,
      };
      assert.deepEqual(await ask(chart), { said: 'there', kept: true, own: true });
      const { said } = await ask({ NODE_EXTRA_CA_CERTS: database });
      assert.equal(said, 'DEPTH_ZERO_SELF_SIGNED_CERT');
    } finally {
      server.close();
    }
  });
});
