import net from 'node:net';
import tls from 'node:tls';
import { Kafka, type LogEntry, logLevel, type SASLOptions } from 'kafkajs';
import type { Logger } from '../../telemetry/logger.ts';
import './compressed-batches.ts';
import './request-queue.ts';
import type { SaslMechanism } from './sasl.ts';

/** In milliseconds. A later response will not come: the broker hangs, or the network drops packets. */
const REQUEST_TIMEOUT_MS = 8000;
const CONNECT_TIMEOUT_MS = 2000;

/** How brokers and clients authenticate each other. */
export interface KafkaSecurity {
  /** Present for TLS. Without `ca`, the system's certificate authorities are trusted. */
  readonly tls?: {
    /** PEM of the authority that signed the brokers' certificates. */
    readonly ca?: string;
    /** PEM of the client's certificate and of its key, for brokers that require one; both or none. */
    readonly cert?: string;
    readonly key?: string;
  };
  readonly sasl?: {
    readonly mechanism: SaslMechanism;
    readonly username: string;
    readonly password: string;
  };
}

export interface ClientOptions {
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly logger: Logger;
  /** A number in [0, 1): spreads attempts that failed together. */
  readonly random: () => number;
  /** Default: neither TLS nor SASL. */
  readonly security?: KafkaSecurity;
}

/** Gives a call up after a second or so: for callers that have their own retry loop around it. */
const IMPATIENT = { initialRetryTime: 100, maxRetryTime: 1000, retries: 3 };
/** Tries for ever: a consumer that never gives up keeps its membership in the group while the broker restarts. */
const PATIENT = { initialRetryTime: 100, maxRetryTime: 1000, retries: Number.MAX_SAFE_INTEGER };

/** @param untilAborted makes the client patient until it aborts; without it, the client is impatient. */
export function createClient(options: ClientOptions, untilAborted?: AbortSignal): Kafka {
  const { brokers, clientId, logger, security = {} } = options;
  return new Kafka({
    // kafkajs has no call to stop trying, but it does not retry after an empty list of brokers.
    brokers: async () => (untilAborted?.aborted ? [] : [...brokers]),
    clientId,
    ...(security.tls && { ssl: { ...security.tls } }),
    ...(security.sasl && { sasl: saslOptions(security.sasl) }),
    connectionTimeout: CONNECT_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    retry: untilAborted === undefined ? IMPATIENT : PATIENT,
    logLevel: logLevel.INFO,
    logCreator: () => (entry) => write(logger, entry),
    socketFactory: ({ host, port, ssl, onConnect }) => {
      const socket = ssl
        ? tls.connect({ host, port, ...(net.isIP(host) ? {} : { servername: host }), ...ssl }, onConnect)
        : net.connect({ host, port }, onConnect);
      // kafkajs leaves Nagle's algorithm on: a second request would wait for the first one's acknowledgement.
      socket.setNoDelay(true);
      socket.setKeepAlive(true, 60_000);
      return socket;
    },
  });
}

/** kafkajs distinguishes mechanisms by their type, each with the same two fields. */
function saslOptions({ mechanism, ...identity }: NonNullable<KafkaSecurity['sasl']>): SASLOptions {
  switch (mechanism) {
    case 'plain':
      return { mechanism, ...identity };
    case 'scram-sha-256':
      return { mechanism, ...identity };
    case 'scram-sha-512':
      return { mechanism, ...identity };
  }
}

/** kafkajs logs every failed attempt as an error; callers report what they give up on, so these are debug lines. */
function write(logger: Logger, entry: LogEntry): void {
  const { message, logger: _name, timestamp: _time, stack: _stack, ...rest } = entry.log;
  const level = entry.level === logLevel.ERROR || entry.level === logLevel.WARN ? 'debug' : 'trace';
  logger[level]({ kafkajs: { namespace: entry.namespace, ...rest } }, message);
}
