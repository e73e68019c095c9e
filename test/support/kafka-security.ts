import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CLIENT, SERVER } from './certificates.ts';
import { freePort } from './ports.ts';

const run = promisify(execFile);
/** As TestBroker.java has it. */
const CLUSTER = 'platen-test-cluster-00';

export type Properties = Readonly<Record<string, string | number | boolean>>;

export interface KafkaUser {
  readonly username: string;
  readonly password: string;
}

/**
 * Settings of a broker that make clients use TLS and SASL. Its certificate is `SERVER`.
 *
 * @returns `caFile`, the PEM that clients are to trust; `mutualBrokers`, where the same broker requires `CLIENT`
 * instead of SASL.
 */
export async function secureListener({
  folder,
  port,
  username,
  password,
}: KafkaUser & { readonly folder: string; readonly port: number }) {
  // Of PEM, Kafka takes files as they are: the key first, then its certificates.
  const keyStore = join(folder, 'broker.pem');
  const caFile = join(folder, 'ca.crt');
  await writeFile(keyStore, SERVER.key + SERVER.cert);
  await writeFile(caFile, SERVER.cert);
  const [internal, mutual] = [await freePort(), await freePort()];
  const clientAuthority = join(folder, 'clients.crt');
  await writeFile(clientAuthority, CLIENT.cert);
  const listener = (name: string) => `listener.name.client.${name}`;
  const keys = (of: string) => ({
    [`listener.name.${of}.ssl.keystore.location`]: keyStore,
    [`listener.name.${of}.ssl.keystore.type`]: 'PEM',
  });
  const scram = 'org.apache.kafka.common.security.scram.ScramLoginModule required;';
  return {
    caFile,
    mutualBrokers: [`127.0.0.1:${mutual}`],
    properties: (plain: Properties): Properties => ({
      listeners: `CLIENT://127.0.0.1:${port},MUTUAL://127.0.0.1:${mutual},INTERNAL://127.0.0.1:${internal},${controllerOf(plain)}`,
      'advertised.listeners': `CLIENT://127.0.0.1:${port},MUTUAL://127.0.0.1:${mutual},INTERNAL://127.0.0.1:${internal}`,
      'listener.security.protocol.map': 'CLIENT:SASL_SSL,MUTUAL:SSL,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT',
      'inter.broker.listener.name': 'INTERNAL',
      ...keys('client'),
      ...keys('mutual'),
      'listener.name.mutual.ssl.client.auth': 'required',
      'listener.name.mutual.ssl.truststore.type': 'PEM',
      'listener.name.mutual.ssl.truststore.location': clientAuthority,
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
