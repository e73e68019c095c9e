import { keysAfter } from '../../../src/infra/outputs/s3/listed-objects.ts';
import { openDatabaseWay } from '../../support/database-way.ts';
import { startKafka, type TestKafka } from '../../support/kafka.ts';
import { startMongo } from '../../support/mongo.ts';
import { bucketClient, REGION, s3Config, sharedS3 } from '../../support/s3-server.ts';
import { forwardToLoopback, HOST_ADDRESS } from './network.ts';

const DATABASE_PORT = 27017;
const BUCKET_PORT = 9000;

/** A bucket of a server that verifies signatures. */
export interface PeerBucket {
  /** The chart's `outputs.s3`, without the name of the Secret. */
  readonly values: { readonly bucket: string; readonly endpoint: string; readonly region: string };
  /** What the Secret holds, under the names that the chart expects. */
  readonly credentials: Readonly<Record<'access-key-id' | 'secret-access-key', string>>;
  /** The keys of its objects that begin with a prefix. */
  keys(prefix: string): Promise<readonly string[]>;
}

/** What the cluster's pods use on this machine, outside the cluster: the database, the broker, and a bucket or none. */
export interface Peers {
  /** For pods. */
  readonly mongodbUri: string;
  /** For pods. */
  readonly brokers: readonly string[];
  readonly kafka: TestKafka;
  /** With TEST_STORE=s3: where PDFs are kept. */
  readonly bucket?: PeerBucket;
}

/** Starts them; the database and the bucket end with the tests, the broker by `kafka.stop()`. */
export async function startPeers(): Promise<Peers> {
  const [kafka, { uri }] = await Promise.all([startKafka({ host: HOST_ADDRESS }), startMongo()]);
  const way = await openDatabaseWay(uri);
  await forwardToLoopback(DATABASE_PORT, way.port);
  const mongodbUri = way.uri.replace(`127.0.0.1:${way.port}`, `${HOST_ADDRESS}:${DATABASE_PORT}`);
  const bucket = process.env.TEST_STORE === 's3' ? { bucket: await newBucket() } : {};
  return { mongodbUri, brokers: kafka.brokers, kafka, ...bucket };
}

async function newBucket(): Promise<PeerBucket> {
  const server = await sharedS3();
  await forwardToLoopback(BUCKET_PORT, Number(new URL(server.endpoint).port));
  const made = await server.newBucket();
  return {
    values: {
      bucket: made.PLATEN_S3_BUCKET!,
      endpoint: `http://${HOST_ADDRESS}:${BUCKET_PORT}`,
      region: REGION,
    },
    credentials: {
      'access-key-id': made.AWS_ACCESS_KEY_ID!,
      'secret-access-key': made.AWS_SECRET_ACCESS_KEY!,
    },
    async keys(prefix) {
      const client = bucketClient(s3Config(made));
      try {
        return await keysAfter(client, prefix, '');
      } finally {
        await client.close();
      }
    },
  };
}
