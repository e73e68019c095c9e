import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/config.ts';
import { bucketAddress } from '../../src/infra/outputs/s3/bucket-address.ts';
import { S3Client } from '../../src/infra/outputs/s3/s3-client.ts';
import type { S3Config } from '../../src/infra/outputs/s3/s3-variables.ts';
import { createSigner } from '../../src/infra/outputs/s3/signer.ts';
import { BIN, type Program, startProgram } from './kubernetes/program.ts';
import { freePort } from './ports.ts';

export const REGION = 'eu-test-1';
const ACCESS_KEY = 'platen-tests';
const SECRET = 'a secret of the tests';
const STARTS_MS = 60_000;

/** An S3 server that verifies signatures and checksums: versitygw, over a folder. */
export interface S3Server {
  readonly endpoint: string;
  /** Kills it, or lets it end. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again, on the same port and data. */
  start(): Promise<void>;
  close(): Promise<void>;
  /** Another user, who may do nothing in the buckets of others. @returns the variables with its credentials. */
  addUser(name: string): Promise<Record<string, string>>;
  /** The environment of a process that stores into a new bucket of this server. */
  newBucket(more?: Record<string, string>): Promise<Record<string, string>>;
}

interface S3ServerOptions {
  /** Where it keeps its data. Default: a folder of its own, which goes with this process. */
  readonly folder?: string;
  /** A program that becomes the server, such as that of a small disk. */
  readonly runner?: string;
}

let shared: Promise<S3Server> | undefined;

/** One server for all tests of this process that leave it alone. */
export function sharedS3(): Promise<S3Server> {
  shared ??= startS3();
  return shared;
}

if (typeof after === 'function') after(async () => (await shared)?.close());

export async function startS3({ folder, runner }: S3ServerOptions = {}): Promise<S3Server> {
  const scratch = await mkdtemp(join(tmpdir(), 'platen-s3-'));
  const data = folder ?? join(scratch, 'data');
  const users = join(scratch, 'users');
  await mkdir(users);
  if (folder === undefined) await mkdir(data);
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const gateway = join(BIN, 'versitygw');
  const keys = ['--access', ACCESS_KEY, '--secret', SECRET, '--region', REGION];
  const args = [
    ...keys,
    '--port',
    `127.0.0.1:${port}`,
    '--iam-dir',
    users,
    '--health',
    '/health',
    '--quiet',
    'posix',
    data,
  ];
  let program: Program | undefined;
  let buckets = 0;

  const start = async () => {
    const command = runner ?? gateway;
    program = await startProgram('versitygw', runner === undefined ? args : [gateway, ...args], {
      folder: scratch,
      command,
    });
    await program.until('it answers', () => answers(`${endpoint}/health`), STARTS_MS);
  };
  const stop = async (signal: NodeJS.Signals = 'SIGKILL') => {
    await program?.end(signal);
  };
  await start();
  return {
    endpoint,
    start,
    stop,
    async close() {
      await stop();
      await rm(scratch, { recursive: true, force: true });
    },
    async addUser(name) {
      const secret = `the secret of ${name}`;
      const made = await startProgram(
        `versitygw-admin-${name}`,
        [
          'admin',
          '--access',
          ACCESS_KEY,
          '--secret',
          SECRET,
          '--region',
          REGION,
          '--endpoint-url',
          endpoint,
          'create-user',
          '--access',
          name,
          '--secret',
          secret,
          '--role',
          'user',
        ],
        { folder: scratch, command: gateway },
      );
      if ((await made.ended) !== 0) throw new Error(`No user ${name} was made: see ${made.logFile}.`);
      return { AWS_ACCESS_KEY_ID: name, AWS_SECRET_ACCESS_KEY: secret };
    },
    async newBucket(more = {}) {
      buckets += 1;
      const environment = {
        PLATEN_OUTPUT_STORE: 's3',
        PLATEN_S3_ENDPOINT: endpoint,
        PLATEN_S3_BUCKET: `bucket-${buckets}`,
        PLATEN_S3_REGION: REGION,
        AWS_ACCESS_KEY_ID: ACCESS_KEY,
        AWS_SECRET_ACCESS_KEY: SECRET,
      };
      const client = bucketClient(s3Config(environment));
      await (await client.send({ method: 'PUT' })).body.dump();
      await client.close();
      return { ...environment, ...more };
    },
  };
}

/** As a process reads it. */
export function s3Config(environment: Record<string, string>): S3Config {
  return loadConfig('standalone', environment);
}

/** Requests to the bucket of an environment. */
export function bucketClient(config: S3Config): S3Client {
  return new S3Client(bucketAddress(config), createSigner(config));
}

async function answers(address: string): Promise<boolean> {
  return await fetch(address).then(
    (response) => response.ok,
    () => false,
  );
}
