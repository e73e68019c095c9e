import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bus } from '../../../src/infra/bus/bus.ts';
import type { KafkaSecurity } from '../../../src/infra/bus/kafka/client.ts';
import { SASL_MECHANISMS } from '../../../src/infra/bus/kafka/sasl.ts';
import { DEFAULT_POOL } from '../../../src/tenants/plans/names.ts';
import { CLIENT, STRANGER, writeCertificate } from '../../support/certificates.ts';
import { eventually } from '../../support/eventually.ts';
import { newPrefix, startKafka, type TestKafka } from '../../support/kafka.ts';
import { startMongo } from '../../support/mongo.ts';
import { startRole } from '../../support/processes.ts';
import { Heard, pointer, problemGone } from './contract.ts';
import { openBus } from './kafka-help.ts';
import { RecordingConsumer } from './recording-consumer.ts';

const USER = { username: 'platen', password: 'a-password-of-kafka' };

describe('The Kafka bus, with brokers that require TLS and SASL', () => {
  let kafka: TestKafka;
  let ca: string;
  let bus: Bus | undefined;

  before(async () => {
    kafka = await startKafka({ secured: USER });
    ca = await readFile(kafka.caFile!, 'utf8');
  });
  after(() => kafka.stop());
  afterEach(async () => {
    await bus?.close();
    bus = undefined;
  });

  const open = async (security: KafkaSecurity) => {
    bus = await openBus(kafka, newPrefix(), { security, publishTimeoutMs: 20_000 });
    return bus;
  };

  for (const mechanism of SASL_MECHANISMS) {
    it(`carries pointers and events, by ${mechanism}`, async () => {
      const opened = await open({ tls: { ca }, sasl: { mechanism, ...USER } });
      const consumer = new RecordingConsumer();
      const heard = new Heard();
      await opened.consumePointers(DEFAULT_POOL, consumer);
      await opened.subscribeEvents('outcomes', heard.hear);
      await opened.publishPointer(pointer('job-1'));
      await consumer.until(() => consumer.accepted.length === 1);
      await problemGone(opened);
      await opened.publishEvent({ jobId: 'job-1', kind: 'ended', to: opened.address });
      await heard.until(1);
    });
  }

  for (const [what, security, problem] of [
    ['a wrong password', { sasl: { ...USER, password: 'wrong' } }, /authentication/i],
    ['an unknown user', { sasl: { ...USER, username: 'nobody' } }, /authentication/i],
    ['an authority that has not signed', { tls: {} }, /certificate/i],
  ] as const) {
    it(`reports what is wrong with ${what}`, async () => {
      const sasl = { mechanism: 'scram-sha-512', ...USER } as const;
      const opened = await open({
        tls: { ca },
        ...security,
        sasl: { ...sasl, ...('sasl' in security && security.sasl) },
      });
      await eventually('it is reported', () => problem.test(opened.problem() ?? ''));
      await assert.rejects(openedWithin(opened));
    });
  }

  it('does not connect without TLS', async () => {
    const opened = await open({ sasl: { mechanism: 'plain', ...USER } });
    await assert.rejects(openedWithin(opened));
    assert.match(opened.problem() ?? '', /^Kafka: /);
  });

  describe('and certificates of their clients', () => {
    const openShowing = async (shown: object) => {
      bus = await openBus(kafka, newPrefix(), {
        brokers: kafka.mutualBrokers,
        security: { tls: { ca, ...shown } },
        publishTimeoutMs: 20_000,
      });
      return bus;
    };

    it('carries pointers for a client with a trusted certificate', async () => {
      const opened = await openShowing(CLIENT);
      const consumer = new RecordingConsumer();
      await opened.consumePointers(DEFAULT_POOL, consumer);
      await opened.publishPointer(pointer('job-1'));
      await consumer.until(() => consumer.accepted.length === 1);
    });

    for (const [what, shown] of [
      ['none', {}],
      ['that of a stranger', STRANGER],
    ] as const) {
      it(`does not connect with ${what}`, async () => {
        const opened = await openShowing(shown);
        await assert.rejects(openedWithin(opened));
        assert.match(opened.problem() ?? '', /^Kafka: /);
      });
    }

    it("presents the certificate from a role's environment", async () => {
      const folder = await mkdtemp(join(tmpdir(), 'platen-test-client-'));
      const { certFile, keyFile } = await writeCertificate(folder, 'client', CLIENT);
      const environment = {
        MONGODB_URI: (await startMongo()).uri,
        KAFKA_BROKERS: kafka.mutualBrokers.join(','),
        KAFKA_SSL_CA: kafka.caFile!,
        KAFKA_SSL_CERT: certFile,
        KAFKA_SSL_KEY: keyFile,
      };
      const dispatcher = await startRole('dispatcher', environment);
      try {
        await dispatcher.ready();
      } finally {
        await dispatcher.end();
        await rm(folder, { recursive: true });
      }
    });
  });

  it("is configured by a role's environment", async () => {
    const environment = {
      MONGODB_URI: (await startMongo()).uri,
      KAFKA_BROKERS: kafka.brokers.join(','),
      KAFKA_SSL_CA: kafka.caFile!,
      KAFKA_SASL_MECHANISM: 'scram-sha-256',
      KAFKA_SASL_USERNAME: USER.username,
      KAFKA_SASL_PASSWORD: USER.password,
    };
    const dispatcher = await startRole('dispatcher', environment);
    try {
      await dispatcher.ready();
    } finally {
      await dispatcher.end();
    }
    const astray = await startRole('dispatcher', { ...environment, KAFKA_SSL_CA: '/nowhere/ca.crt' });
    await astray.ended;
    assert.match(astray.output.join('\n'), /cannot start: KAFKA_SSL_CA \/nowhere\/ca\.crt cannot be read/);
  });
});

/** Resolves when a pointer could be published. */
function openedWithin(bus: Bus): Promise<void> {
  const late = new Promise<never>((_, reject) => setTimeout(() => reject(new Error('late')), 4000));
  const published = bus.publishPointer(pointer('never'));
  published.catch(() => {});
  return Promise.race([published, late]);
}
