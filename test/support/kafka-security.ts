import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './ports.ts';

const run = promisify(execFile);
const STORE_PASSWORD = 'of-the-key-store';
/** As TestBroker.java has it. */
const CLUSTER = 'platen-test-cluster-00';

export type Properties = Readonly<Record<string, string | number | boolean>>;

export interface KafkaUser {
  readonly username: string;
  readonly password: string;
}

/**
 * What a broker is told besides, so that clients must use TLS and SASL. Its certificate is made on the spot, for loopback.
 *
 * @returns `caFile`, the PEM that clients are to trust.
 */
export async function secureListener({
  folder,
  port,
  username,
  password,
}: KafkaUser & { readonly folder: string; readonly port: number }) {
  const keyStore = join(folder, 'broker.p12');
  const caFile = join(folder, 'ca.crt');
  const store = [
    '-keystore',
    keyStore,
    '-storetype',
    'PKCS12',
    '-storepass',
    STORE_PASSWORD,
    '-alias',
    'broker',
  ];
  const certificate = ['-dname', 'CN=broker', '-ext', 'san=ip:127.0.0.1', '-validity', '2'];
  await run('keytool', ['-genkeypair', '-keyalg', 'RSA', '-keysize', '2048', ...certificate, ...store]);
  await run('keytool', ['-exportcert', '-rfc', '-file', caFile, ...store]);
  const internal = await freePort();
  const listener = (name: string) => `listener.name.client.${name}`;
  const scram = 'org.apache.kafka.common.security.scram.ScramLoginModule required;';
  return {
    caFile,
    properties: (plain: Properties): Properties => ({
      listeners: `CLIENT://127.0.0.1:${port},INTERNAL://127.0.0.1:${internal},${controllerOf(plain)}`,
      'advertised.listeners': `CLIENT://127.0.0.1:${port},INTERNAL://127.0.0.1:${internal}`,
      'listener.security.protocol.map': 'CLIENT:SASL_SSL,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT',
      'inter.broker.listener.name': 'INTERNAL',
      [listener('ssl.keystore.location')]: keyStore,
      [listener('ssl.keystore.type')]: 'PKCS12',
      [listener('ssl.keystore.password')]: STORE_PASSWORD,
      [listener('sasl.enabled.mechanisms')]: 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
      [listener('plain.sasl.jaas.config')]:
        `org.apache.kafka.common.security.plain.PlainLoginModule required user_${username}="${password}";`,
      [listener('scram-sha-256.sasl.jaas.config')]: scram,
      [listener('scram-sha-512.sasl.jaas.config')]: scram,
    }),
  };
}

/** Formats the broker's folder, with the user in it: SCRAM keeps what it needs to know of users in the log itself. */
export async function formatWithUser(peer: string, config: string, { username, password }: KafkaUser) {
  const users = ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
    '--add-scram',
    `${mechanism}=[name=${username},password=${password}]`,
  ]);
  const format = ['format', '--cluster-id', CLUSTER, '--config', config, ...users];
  await run('java', ['@java.args', 'kafka.tools.StorageTool', ...format], { cwd: peer });
}

function controllerOf({ listeners }: Properties): string {
  return String(listeners).split(',').at(-1)!;
}
