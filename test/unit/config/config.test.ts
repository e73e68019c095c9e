import assert from 'node:assert/strict';
import { VARIABLE_EXAMPLES } from '../../../scripts/docs-pages/variable-examples.ts';
import { ConfigError, loadConfig, opsPortOf } from '../../../src/config/config.ts';
import { modeOf } from '../../../src/tenants/keys/secret.ts';

const errors = (role: Parameters<typeof loadConfig>[0], environment: NodeJS.ProcessEnv): string => {
  try {
    loadConfig(role, environment);
    return '';
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
};

describe('configuration', () => {
  it('needs nothing for standalone', () => {
    const config = loadConfig('standalone', {});
    assert.equal(config.PORT, 8080);
    assert.equal(config.PLATEN_SYNC_WAIT_MS, 25_000);
    assert.equal(config.PLATEN_ISOLATION, 'account');
  });

  it('lists all errors at once', () => {
    const message = errors('api', {
      PORT: '99999',
      PLATEN_ISOLATION: 'none',
      PLATEN_ALLOWED_PRIVATE_NETWORKS: '10.0.0.0/33',
      PLATEN_LOCALE: 'de_DE.UTF-8',
    });
    for (const name of [
      'PORT',
      'PLATEN_LOCALE',
      'PLATEN_ISOLATION',
      'PLATEN_ALLOWED_PRIVATE_NETWORKS',
      'MONGODB_URI',
      'KAFKA_BROKERS',
      'PLATEN_SECRET',
    ]) {
      assert.match(message, new RegExp(`^  ${name}: `, 'm'));
    }
  });

  it('requires of each role the settings that it uses, and no secret that it does not use', () => {
    const missing = (role: Parameters<typeof loadConfig>[0]) =>
      [...errors(role, {}).matchAll(/^ {2}(\w+): required by the role/gm)].map(([, name]) => name);
    assert.deepEqual(missing('api'), ['MONGODB_URI', 'KAFKA_BROKERS', 'PLATEN_SECRET']);
    assert.deepEqual(missing('worker'), ['MONGODB_URI', 'KAFKA_BROKERS']);
    assert.deepEqual(missing('dispatcher'), ['MONGODB_URI', 'KAFKA_BROKERS']);
    const ofController = ['MONGODB_URI', 'POD_NAME', 'POD_NAMESPACE', 'PLATEN_WORKER_TEMPLATE_FILE'];
    assert.deepEqual(missing('controller'), ofController);
    assert.deepEqual(missing('standalone'), []);
  });

  it('takes the examples of the documentation, together and in every role', () => {
    const examples = Object.entries(VARIABLE_EXAMPLES).map(([name, example]) => [name, [example].flat()[0]!]);
    assert.ok(examples.length > 80);
    for (const role of ['api', 'worker', 'dispatcher', 'controller', 'standalone'] as const)
      assert.equal(errors(role, Object.fromEntries(examples)), '', role);
  });

  it('has operations on a port of their own, but for standalone', () => {
    const pod = { POD_NAME: 'p', POD_NAMESPACE: 'n', PLATEN_WORKER_TEMPLATE_FILE: 't' };
    const shared = {
      MONGODB_URI: 'mongodb://a',
      KAFKA_BROKERS: 'a:1',
      PLATEN_SECRET: 's'.repeat(32),
      ...pod,
    };
    const portOf = (role: Parameters<typeof loadConfig>[0], more = {}) =>
      opsPortOf(role, loadConfig(role, { ...shared, PORT: '8000', ...more }));
    assert.equal(portOf('standalone'), 8000);
    assert.equal(portOf('standalone', { PLATEN_OPS_PORT: '9000' }), 9000);
    for (const role of ['api', 'worker', 'dispatcher', 'controller'] as const) {
      assert.equal(portOf(role), 9090);
      assert.equal(portOf(role, { PLATEN_OPS_PORT: '8000' }), 8000);
    }
    assert.match(errors('api', { PLATEN_OPS_PORT: '70000' }), /^ {2}PLATEN_OPS_PORT: /m);
  });

  it('takes a pool of a name that can stand in a topic, and no other', () => {
    const poolOf = (name: string) => loadConfig('standalone', { PLATEN_POOL: name }).PLATEN_POOL;
    assert.equal(poolOf(''), 'default');
    for (const name of ['a', '7', 'large-2', 'eu.large', 'a'.repeat(63)]) assert.equal(poolOf(name), name);
    for (const name of ['A', 'a_b', '-a', 'a-', '.a', 'a.', 'a b', 'a/b', 'ä', 'a'.repeat(64), 'a\n'])
      assert.match(errors('standalone', { PLATEN_POOL: name }), /^ {2}PLATEN_POOL: /m);
  });

  it('takes an empty variable for one that is not set', () => {
    assert.equal(loadConfig('standalone', { PORT: '', PLATEN_SECRET: '' }).PORT, 8080);
  });

  it('takes a bootstrap key as given, when it is long enough to be one', () => {
    const email = { PLATEN_BOOTSTRAP_EMAIL: 'a@example.com' };
    const key = `sk_live_${'k'.repeat(32)}`;
    assert.equal(
      loadConfig('standalone', { ...email, PLATEN_BOOTSTRAP_API_KEY: key }).PLATEN_BOOTSTRAP_API_KEY,
      key,
    );
    assert.match(
      errors('standalone', { ...email, PLATEN_BOOTSTRAP_API_KEY: key.slice(0, -1) }),
      /PLATEN_BOOTSTRAP_API_KEY/,
    );
    assert.match(errors('standalone', { PLATEN_BOOTSTRAP_API_KEY: key }), /PLATEN_BOOTSTRAP_EMAIL/);
  });

  it('rejects a bootstrap account without a usable password or key', () => {
    const email = { PLATEN_BOOTSTRAP_EMAIL: 'a@example.com' };
    const longest = `sk_test_${'k'.repeat(4096)}`;
    const { PLATEN_BOOTSTRAP_API_KEY } = loadConfig('api', {
      ...email,
      PLATEN_BOOTSTRAP_API_KEY: longest,
      MONGODB_URI: 'mongodb://a',
      KAFKA_BROKERS: 'a:1',
      PLATEN_SECRET: 's'.repeat(32),
    });
    assert.equal(modeOf(PLATEN_BOOTSTRAP_API_KEY!), 'test');
    for (const [name, value] of Object.entries({
      PLATEN_BOOTSTRAP_API_KEY: `${longest}k`,
      PLATEN_BOOTSTRAP_PASSWORD: 'p'.repeat(201),
      PLATEN_BOOTSTRAP_EMAIL: `${'a'.repeat(65)}@example.com`,
    })) {
      assert.match(errors('standalone', { ...email, [name]: value }), new RegExp(`^  ${name}: `, 'm'));
    }
  });

  it('takes certificates with their keys, and none for brokers without TLS', () => {
    for (const system of ['KAFKA_SSL', 'MONGODB_TLS']) {
      const all = { KAFKA_SSL_CA: 'system', [`${system}_CERT`]: '/tls.crt', [`${system}_KEY`]: '/tls.key' };
      loadConfig('standalone', all);
      for (const name of [`${system}_CERT`, `${system}_KEY`])
        assert.match(
          errors('standalone', { ...all, [name]: '' }),
          new RegExp(`^  ${system}_CERT, ${system}_KEY: must be set together$`, 'm'),
        );
    }
    const withoutTls = { KAFKA_SSL_CERT: '/tls.crt', KAFKA_SSL_KEY: '/tls.key' };
    assert.match(errors('standalone', withoutTls), /^ {2}KAFKA_SSL_CA: required when KAFKA_SSL_CERT is set/m);
  });

  it('takes what SASL needs together or not at all, and mechanisms that it knows', () => {
    const all = {
      KAFKA_SASL_MECHANISM: 'scram-sha-512',
      KAFKA_SASL_USERNAME: 'platen',
      KAFKA_SASL_PASSWORD: 'secret',
    };
    assert.equal(loadConfig('standalone', all).KAFKA_SASL_MECHANISM, 'scram-sha-512');
    for (const name of Object.keys(all))
      assert.match(errors('standalone', { ...all, [name]: '' }), /must be set together/);
    assert.match(
      errors('standalone', { ...all, KAFKA_SASL_MECHANISM: 'gssapi' }),
      /^ {2}KAFKA_SASL_MECHANISM: /m,
    );
  });

  it('takes what a bucket of S3 needs, and names what is missing or has no effect', () => {
    const s3 = { PLATEN_OUTPUT_STORE: 's3', PLATEN_S3_BUCKET: 'pdfs' };
    const config = loadConfig('standalone', { ...s3, PLATEN_S3_PREFIX: 'a/b/' });
    assert.deepEqual([config.PLATEN_S3_REGION, config.PLATEN_S3_PREFIX], ['us-east-1', 'a/b/']);
    const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret', AWS_SESSION_TOKEN: 'token' };
    loadConfig('standalone', { ...s3, ...keys });
    loadConfig('standalone', keys);
    for (const [given, error] of [
      [{ PLATEN_S3_BUCKET: '' }, 'PLATEN_S3_BUCKET: required by PLATEN_OUTPUT_STORE=s3'],
      [{ PLATEN_OUTPUT_STORE: '' }, 'PLATEN_OUTPUT_STORE: must be s3 when PLATEN_S3_BUCKET is set'],
      [{ PLATEN_S3_BUCKET: 'My_Bucket' }, 'PLATEN_S3_BUCKET: must be the name of a bucket'],
      [{ PLATEN_S3_PREFIX: 'platen' }, 'PLATEN_S3_PREFIX: must be folders that each end with a slash'],
      [{ PLATEN_S3_PREFIX: '../' }, 'PLATEN_S3_PREFIX: must be folders'],
      [{ PLATEN_S3_ENDPOINT: 'minio:9000' }, 'PLATEN_S3_ENDPOINT: must be an http or https address'],
      [{ PLATEN_S3_ENDPOINT: 'http://minio:9000/pdfs' }, 'PLATEN_S3_ENDPOINT: must be scheme, host and port'],
      [{ PLATEN_S3_PUBLIC_ENDPOINT: 'https://a:b@s3' }, 'PLATEN_S3_PUBLIC_ENDPOINT: must be scheme, host'],
      [{ PLATEN_S3_PATH_STYLE: 'true' }, 'PLATEN_S3_PATH_STYLE: '],
      [{ PLATEN_S3_REGION: 'EU' }, 'PLATEN_S3_REGION: must be the name of a region'],
      [{ AWS_ACCESS_KEY_ID: 'id' }, 'AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY: must be set together'],
      [{ AWS_SESSION_TOKEN: 'token' }, 'AWS_ACCESS_KEY_ID: required when AWS_SESSION_TOKEN is set'],
    ] as const) {
      assert.ok(errors('standalone', { ...s3, ...given }).includes(`\n  ${error}`), error);
    }
  });

  it('splits lists and drops what is empty', () => {
    const config = loadConfig('standalone', {
      KAFKA_BROKERS: 'a:1, b:2,',
      PLATEN_ALLOWED_PRIVATE_NETWORKS: '10.0.0.0/8,fd00::/8',
    });
    assert.deepEqual(config.KAFKA_BROKERS, ['a:1', 'b:2']);
    assert.deepEqual(config.PLATEN_ALLOWED_PRIVATE_NETWORKS, ['10.0.0.0/8', 'fd00::/8']);
  });
});
