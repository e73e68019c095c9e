import { openDatabaseWay } from '../../support/database-way.ts';
import { startKafka, type TestKafka } from '../../support/kafka.ts';
import { startMongo } from '../../support/mongo.ts';
import { forwardToLoopback, HOST_ADDRESS } from './network.ts';

const DATABASE_PORT = 27017;

/** The database and the broker that the cluster's pods use: on this machine, outside the cluster. */
export interface Peers {
  /** For pods. */
  readonly mongodbUri: string;
  /** For pods. */
  readonly brokers: readonly string[];
  readonly kafka: TestKafka;
}

/** Starts both; the database ends with the tests, the broker by `kafka.stop()`. */
export async function startPeers(): Promise<Peers> {
  const [kafka, { uri }] = await Promise.all([startKafka({ host: HOST_ADDRESS }), startMongo()]);
  const way = await openDatabaseWay(uri);
  await forwardToLoopback(DATABASE_PORT, way.port);
  const mongodbUri = way.uri.replace(`127.0.0.1:${way.port}`, `${HOST_ADDRESS}:${DATABASE_PORT}`);
  return { mongodbUri, brokers: kafka.brokers, kafka };
}
