import net from 'node:net';
import tls from 'node:tls';
import { Kafka, type LogEntry, logLevel, type SASLOptions } from 'kafkajs';
import type { Logger } from '../../telemetry/logger.ts';
import type { SaslMechanism } from './sasl.ts';

/** An answer that takes longer than this will not come: the broker hangs, or the network swallows packets. */
const REQUEST_TIMEOUT_MS = 8000;
const CONNECT_TIMEOUT_MS = 2000;

/** Who reads or writes a topic knows within this time that it has more partitions, in milliseconds. */
export const TOPICS_KNOWN_MS = 5000;

/** How brokers and clients make sure of each other. */
export interface KafkaSecurity {
  /** Present for TLS. Without `ca`, the authorities that the system trusts are believed. */
  readonly tls?: {
    /** PEM of the authority that signed the brokers' certificates. */
    readonly ca?: string;
    /** PEM of what is shown to brokers that ask who their clients are, and of its key; both or none. */
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

/** Gives up on a call after a second or so of trying: for callers that have a loop of their own around it. */
const IMPATIENT = { initialRetryTime: 100, maxRetryTime: 1000, retries: 3 };
/** Tries for good: a consumer that never gives up keeps its place in the group while the broker restarts. */
const PATIENT = { initialRetryTime: 100, maxRetryTime: 1000, retries: Number.MAX_SAFE_INTEGER };

/** @param untilAborted makes the client patient until then; without it, it is impatient. */
export function createClient(options: ClientOptions, untilAborted?: AbortSignal): Kafka {
  const { brokers, clientId, logger, security = {} } = options;
  return new Kafka({
    // kafkajs cannot be told to stop trying, but an empty list of brokers is an error that it does not retry.
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

/** kafkajs tells mechanisms apart by their type, each with the same two fields. */
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

/**
 * kafkajs calls every attempt that failed an error. What matters is reported by the parts that give up on it, so
 * its own lines are details.
 */
function write(logger: Logger, entry: LogEntry): void {
  const { message, logger: _name, timestamp: _time, stack: _stack, ...rest } = entry.log;
  const level = entry.level === logLevel.ERROR || entry.level === logLevel.WARN ? 'debug' : 'trace';
  logger[level]({ kafkajs: { namespace: entry.namespace, ...rest } }, message);
}
