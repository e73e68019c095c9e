import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../../src/infra/telemetry/logger.ts';
import { createMetrics } from '../../src/roles/metrics.ts';
import { SecretWatch } from '../../src/roles/process/secret-watch.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../integration/egress/support/certificate.ts';

const URI = 'mongodb://platen:old@mongo.example/platen';

describe('Secrets that are rotated', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-secrets-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('are reported by variable in the metric and once in the log, and never shown', async () => {
    const metrics = createMetrics('api');
    const lines: string[] = [];
    const logger = {
      warn: (fields: object, text: string) => lines.push(`${JSON.stringify(fields)} ${text}`),
    };
    const watch = new SecretWatch({
      folder,
      environment: { MONGODB_URI: URI, PLATEN_SECRET: 'the same' },
      outdated: metrics.secretOutdated,
      certificateEnds: metrics.certificateEnds,
      logger: logger as unknown as Logger,
    });
    const outdated = async () => {
      const { values } = await metrics.secretOutdated.get();
      return Object.fromEntries(values.map(({ labels, value }) => [labels.variable, value]));
    };
    await writeFile(join(folder, 'MONGODB_URI'), URI);
    await writeFile(join(folder, 'PLATEN_SECRET'), 'the same');
    // As the kubelet adds it to its files.
    await writeFile(join(folder, '..data'), '');
    assert.deepEqual(await watch.check(), []);
    assert.deepEqual(await outdated(), { MONGODB_URI: 0, PLATEN_SECRET: 0 });

    await writeFile(join(folder, 'MONGODB_URI'), URI.replace('old', 'new'));
    assert.deepEqual(await watch.check(), ['MONGODB_URI']);
    assert.deepEqual(await watch.check(), ['MONGODB_URI']);
    assert.deepEqual(await outdated(), { MONGODB_URI: 1, PLATEN_SECRET: 0 });
    assert.equal(lines.length, 1);
    assert.match(lines[0]!, /the Secret of MONGODB_URI has changed/);
    assert.ok(!lines.join().includes('mongo.example'));

    await writeFile(join(folder, 'MONGODB_URI'), URI);
    assert.deepEqual(await watch.check(), []);
    assert.deepEqual(await outdated(), { MONGODB_URI: 0, PLATEN_SECRET: 0 });
  });

  it('are noticed as certificates that are renewed, with when the one ends that is shown', async () => {
    const metrics = createMetrics('worker');
    const lines: string[] = [];
    const warn = (fields: object, text: string) => lines.push(`${JSON.stringify(fields)} ${text}`);
    const [cert, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
    await writeFile(cert, CERTIFICATE);
    await writeFile(key, PRIVATE_KEY);
    const watch = new SecretWatch({
      folder: undefined,
      environment: {
        KAFKA_SSL_CERT: cert,
        KAFKA_SSL_KEY: key,
        KAFKA_SSL_CA: 'system',
        MONGODB_TLS_CERT: join(folder, 'missing'),
      },
      outdated: metrics.secretOutdated,
      certificateEnds: metrics.certificateEnds,
      logger: { warn } as unknown as Logger,
    });
    assert.deepEqual(await watch.check(), []);
    const ends = (await metrics.certificateEnds.get()).values;
    assert.deepEqual(
      ends.map(({ labels, value }) => [labels.variable, value]),
      [['KAFKA_SSL_CERT', new X509Certificate(CERTIFICATE).validToDate.getTime() / 1000]],
    );

    await writeFile(cert, CERTIFICATE.replace('\n', '\n\n'));
    assert.deepEqual(await watch.check(), ['KAFKA_SSL_CERT']);
    assert.deepEqual(await watch.check(), ['KAFKA_SSL_CERT']);
    assert.equal(lines.length, 1);
    assert.match(lines[0]!, /the Secret of KAFKA_SSL_CERT has changed/);
  });
});
